import { parseYaml } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import type { Read } from '../clusters/objects.ts';
import { type Masquerader, objectText } from './masquerader.ts';
import type { DaemonSet, MasqueradeObjects } from './objects.ts';

const part = z.nullish(z.object({ masqueradeAll: z.nullish(z.boolean()) }));
const configuration = z.object({ mode: z.nullish(z.string()), iptables: part, nftables: part });

export const isKubeProxy = ({ metadata }: DaemonSet): boolean =>
  metadata.namespace === 'kube-system' && metadata.name === 'kube-proxy';

/** Where kubeadm has its configuration. */
export const kubeProxyMap = { kind: 'ConfigMap', namespace: 'kube-system', name: 'kube-proxy' } as const;

/**
 * With `masqueradeAll`, kube-proxy masquerades all packets to ClusterIPs (pkg/proxy/iptables/proxier.go, also in ipvs and
 * nftables). The mode nftables has a field of its own (pkg/proxy/apis/config/v1alpha1/conversion.go).
 */
export function kubeProxy({ cluster, daemonSets, configMaps }: MasqueradeObjects): readonly Read<Masquerader>[] {
  if (!daemonSets.known) return [daemonSets];
  if (!daemonSets.value.some(isKubeProxy)) return [];
  const data = configMaps.get(`${kubeProxyMap.namespace}/${kubeProxyMap.name}`);
  if (data?.known === false) return [data];
  const text = data?.value?.['config.conf'];
  if (text === undefined) return [];
  const parsed = parseYaml(text);
  const checked = parsed.ok ? configuration.safeParse(parsed.value) : undefined;
  if (checked?.success !== true)
    return [{ known: false, why: `${cluster}: config.conf of ${objectText(kubeProxyMap)} is not valid` }];
  const field = checked.data.mode === 'nftables' ? 'nftables' : 'iptables';
  if (checked.data[field]?.masqueradeAll !== true) return [];
  const value: Masquerader = {
    name: 'kube-proxy',
    object: kubeProxyMap,
    reason: `${field}.masqueradeAll in config.conf of ${objectText(kubeProxyMap)} is true`,
    spares: [],
    ofServices: true,
    check: 'sources-kept',
  };
  return [{ known: true, value }];
}
