import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { globalNetworkSetCrd } from '@kube-semaphore/testkit';
import { Latest, type Watched } from './latest.ts';
import { openWatch, type WatchOptions } from './open-watch.ts';

/** What matters of a GlobalNetworkSet. */
export type NetworkSet = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly nets: readonly string[];
};

/** What a cluster needs before there can be sets, in the group in which Calico's users know them. */
export const networkSetCrd = globalNetworkSetCrd('projectcalico.org');

/** Where sets are in the API. */
export const networkSetsPath = '/apis/projectcalico.org/v3/globalnetworksets';

/** The rights that a watch of them needs. */
export const watchSetsRules = [
  { apiGroups: ['projectcalico.org'], resources: ['globalnetworksets'], verbs: ['list', 'watch'] },
];

/** The GlobalNetworkSets of a cluster. Resolves when the watch stands, and tells if it ends. */
export async function watchSets(
  server: TestCluster,
  audience: Pick<WatchOptions, 'token' | 'onEnd'>,
): Promise<Watched<NetworkSet>> {
  const sets = new Latest<NetworkSet>();
  await openWatch(server, {
    ...audience,
    path: networkSetsPath,
    onObject: ({ metadata: { name, labels = {} }, spec }, isGone) => {
      const { nets = [] } = (spec ?? {}) as { readonly nets?: readonly string[] };
      sets.set(name, isGone ? undefined : { name, labels, nets });
    },
  });
  return sets;
}
