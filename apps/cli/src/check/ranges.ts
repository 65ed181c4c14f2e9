import { type Cidr, overlaps } from '@kube-semaphore/net';
import type { RemoteStatus } from '../clusters/app-status.ts';
import { type Check, checkOfEach, placeOf } from './check.ts';
import { readPods } from '../clusters/report.ts';
import { cidrsOf } from './clusters.ts';

/** Two remotes of one Pod may not have the same addresses. */
export const rangesDistinct: Check = checkOfEach('ranges-distinct', {
  hint: 'give each cluster pod addresses that no other cluster has, and correct the config',
  subjects: readPods,
  detailOf: (found) => {
    const remotes = found.status.remotes.map((remote) => ({ name: remote.name, ranges: rangesOf(remote) }));
    const pairs = remotes.flatMap((one, i) => remotes.slice(i + 1).map((other) => [one, other] as const));
    const shared = pairs.flatMap(([one, other]) => {
      const clash = one.ranges.find((range) => other.ranges.some((theirs) => overlaps(range, theirs)));
      return clash === undefined ? [] : [`${one.name} and ${other.name} share addresses of ${clash.text}`];
    });
    return shared.length === 0 ? undefined : `${placeOf(found)}: ${shared.join('; ')}`;
  },
});

/** The addresses of the Pods of a remote, by the config. */
export const rangesOf = ({ config: { allowedPodCIDRs, podSubnets } }: RemoteStatus): readonly Cidr[] =>
  cidrsOf([...(allowedPodCIDRs ?? []), ...(podSubnets ?? [])]);
