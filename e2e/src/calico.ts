import { docBlocks } from '@kube-semaphore/testkit';
import { SHOP } from './shop-manifests.ts';

/** A manifest as Calico stores it. These clusters don't have its API server, which serves projectcalico.org/v3. */
const stored = (manifest: string): string => manifest.replace('projectcalico.org/v3', 'crd.projectcalico.org/v1');

/** The disabled pool of docs/wireguard.md, for a remote with this Pod range. */
export function remotePool(remote: string, range: string): string {
  const [pool = ''] = docBlocks('wireguard.md', 'With Calico', 'yaml');
  return stored(pool).replace('c2', remote).replace('10.4.0.0/16', range);
}

/** The policies of docs/policy.md. Names are as Calico's API server writes them. */
export const documentedPolicies = (): string =>
  docBlocks('policy.md', 'Policies', 'yaml')
    .map((policy) =>
      stored(policy).replace('\n  name: ', '\n  name: default.').replace('\nspec:\n', '\nspec:\n  tier: default\n'),
    )
    .join('---\n');

/** Lets only the caller in c1 reach the shop in c2. */
export const shopPolicy = {
  apiVersion: 'crd.projectcalico.org/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'default.web', namespace: SHOP },
  spec: {
    tier: 'default',
    selector: "app == 'web'",
    types: ['Ingress'],
    ingress: [
      {
        action: 'Allow',
        source: {
          namespaceSelector: 'global()',
          selector: "semaphore.uw.systems/cluster == 'c1' && semaphore.uw.systems/name == 'checkout'",
        },
      },
    ],
  },
};
