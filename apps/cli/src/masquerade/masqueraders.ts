import { awsVpcCni } from './aws-vpc-cni.ts';
import { calico } from './calico.ts';
import { cilium } from './cilium.ts';
import { flannel } from './flannel.ts';
import { ipMasqAgent } from './ip-masq-agent.ts';
import { k3s } from './k3s.ts';
import { kindnet } from './kindnet.ts';
import { kubeProxy } from './kube-proxy.ts';
import type { Masquerader } from './masquerader.ts';
import type { MasqueradeObjects } from './objects.ts';

/** All that may replace the source address of Pods in a cluster. */
export type Masqueraders = {
  readonly found: readonly Masquerader[];
  /** Why it isn't known whether there are others, or what they do: a sentence for each reason. */
  readonly unknown: readonly { readonly check: Masquerader['check']; readonly why: string }[];
};

const tools = { flannel, k3s, kindnet, awsVpcCni, ipMasqAgent, cilium, kubeProxy, calico };

/** What replaces the source address of Pods, as far as objects say. */
export function masqueradersOf(objects: MasqueradeObjects): Masqueraders {
  const found: Masquerader[] = [];
  const unknown = new Map<string, Masqueraders['unknown'][number]>();
  for (const tool of Object.values(tools))
    for (const read of tool(objects))
      if (read.known) found.push(read.value);
      else unknown.set(read.why, { check: tool === calico ? 'pools-disabled' : 'sources-kept', why: read.why });
  return { found, unknown: [...unknown.values()] };
}
