import type { ClusterReport } from '../clusters/report.ts';
import { type Check, checkOfEach, placeOf, type SeenRemote, seenRemotes } from './check.ts';

/** A remote as an agent sees it, with what the agents of that cluster say of themselves. */
type BothSides = { readonly here: SeenRemote; readonly ours: string; readonly there: readonly SeenRemote[] };

/** Remotes of agents whose own agents were read, too: by the name that their config gives to themselves. */
function bothSides(reports: readonly ClusterReport[]): readonly BothSides[] {
  const agents = seenRemotes(reports).filter(({ pod }) => pod.app === 'semaphore-wireguard');
  const byName = Map.groupBy(agents, ({ status }) => status.config.name);
  return agents.flatMap((here) => {
    const there = byName.get(here.remote.name);
    const { name: ours } = here.status.config;
    return there === undefined || ours === undefined ? [] : [{ here, ours, there }];
  });
}

/** What the agents of two clusters must agree on. Only clusters that were read, too, can be compared. */
export const agreements: readonly Check[] = [
  checkOfEach('both-ways', {
    hint: 'add the cluster to the config of the other side, under the same name',
    subjects: bothSides,
    detailOf: ({ here, ours, there }) =>
      there.some(({ remote }) => remote.name === ours)
        ? undefined
        : `${placeOf(here)} has the remote ${here.remote.name}, which has no remote ${ours}`,
  }),
  checkOfEach('keys-agree', {
    hint: "wait a minute; then look at the pubKey annotation of the peer's Node",
    subjects: (reports) =>
      bothSides(reports).flatMap(({ here, ours, there }) =>
        (here.remote.peers ?? []).flatMap((peer) => {
          const agent = there.find(({ pod, remote }) => pod.node === peer.node && remote.name === ours);
          const key = agent?.remote.device?.publicKey;
          return key ? [{ here, peer, key }] : [];
        }),
      ),
    detailOf: ({ here, peer, key }) =>
      peer.publicKey === key
        ? undefined
        : `${placeOf(here)} has the key ${peer.publicKey} for the node ${peer.node} of ${here.remote.name}, whose key is ${key}`,
  }),
];
