import { type Cidr, containsCidr, isUsedFamily } from '@kube-semaphore/net';
import type { NodeFacts } from '../clusters/objects.ts';
import { ownNames, type SeenRemote, seenRemotes } from '../clusters/report.ts';
import { peersOf, type PeerStatus } from '../clusters/app-status.ts';
import { type Check, checkOfEach, placeOf } from './check.ts';
import { cidrsOf, podRangesOf } from './clusters.ts';
import type { Reading } from './facts/facts.ts';

/** A remote as an agent sees it, with what the agents of that cluster say of themselves. */
type BothSides = { readonly here: SeenRemote; readonly ours: string; readonly there: readonly SeenRemote[] };

/** A peer, and the Node that it leads to. */
type PeerNode = Pick<BothSides, 'here' | 'ours'> & {
  readonly peer: PeerStatus;
  readonly node: NodeFacts;
};

/** Remotes of agents whose own agents were read, too: by the name that their config gives to themselves. */
function bothSides(reports: readonly Reading[]): readonly BothSides[] {
  const agents = seenRemotes(reports).filter(({ pod }) => pod.app === 'semaphore-wireguard');
  const byName = Map.groupBy(agents, ({ status }) => status.config.name);
  return agents.flatMap((here) => {
    const there = byName.get(here.remote.name);
    const { name: ours } = here.status.config;
    return there === undefined || ours === undefined ? [] : [{ here, ours, there }];
  });
}

/** Remotes of agents that have other apps of ours, but no agents. */
function withoutAgents(readings: readonly Reading[]): readonly BothSides[] {
  const names = new Set(
    readings.filter(({ pods }) => !pods.some(({ app }) => app === 'semaphore-wireguard')).flatMap(ownNames),
  );
  return seenRemotes(readings)
    .filter(({ pod, remote }) => pod.app === 'semaphore-wireguard' && names.has(remote.name))
    .map((here) => ({ here, ours: here.status.config.name ?? '', there: [] }));
}

function peerNodes(readings: readonly Reading[]): readonly PeerNode[] {
  return bothSides(readings).flatMap(({ here, ours, there }) => {
    const nodes = readings.find(({ cluster }) => cluster === there[0]?.cluster)?.facts.nodes;
    if (nodes?.known !== true) return [];
    return (peersOf(here.remote) ?? []).flatMap((peer) => {
      const node = nodes.value.find(({ name }) => name === peer.node);
      return node === undefined ? [] : [{ here, ours, peer, node }];
    });
  });
}

/** Whether a remote's addresses of this family are used. */
const isUsed = ({ family }: Cidr, { remote: { config } }: SeenRemote): boolean =>
  isUsedFamily(family, { families: config.families ?? undefined });

/** What the agents of two clusters must agree on. Only clusters that were read, too, can be compared. */
export const agreements: readonly Check[] = [
  checkOfEach('both-ways', {
    hint: 'add the cluster to the config of the other side, under the same name',
    subjects: (readings) => [...bothSides(readings), ...withoutAgents(readings)],
    detailOf: ({ here, ours, there }) =>
      there.some(({ remote }) => remote.name === ours)
        ? undefined
        : `${placeOf(here)} has the remote ${here.remote.name}, which has no ${there.length === 0 ? 'agents' : `remote ${ours}`}`,
  }),
  checkOfEach('keys-agree', {
    hint: "wait a minute; then look at the pubKey annotation of the peer's Node",
    subjects: (reports) =>
      bothSides(reports).flatMap(({ here, ours, there }) =>
        (peersOf(here.remote) ?? []).flatMap((peer) => {
          const agent = there.find(({ pod, remote }) => pod.node === peer.node && remote.name === ours);
          const { device, secondDevice } = agent?.remote ?? {};
          const keys = [device?.publicKey, secondDevice?.publicKey].flatMap((key) => key ?? []);
          return keys.length === 0 ? [] : [{ here, peer, keys }];
        }),
      ),
    detailOf: ({ here, peer: { publicKey, node }, keys }) =>
      keys.includes(publicKey)
        ? undefined
        : `${placeOf(here)} has the key ${publicKey} for the node ${node} of ${here.remote.name}, whose key is ${keys.join(' or ')}`,
  }),
  checkOfEach('endpoints-agree', {
    severity: 'warning',
    hint: "fine behind NAT; else look at the endpoint annotation of the peer's Node",
    // While keys rotate, a node has two endpoints, and announces one.
    subjects: (readings) => peerNodes(readings).filter(({ here }) => here.remote.rotation === undefined),
    detailOf: ({ here, ours, peer, node }) => {
      const announced = node.annotations[`${ours}.wireguard.semaphore.uw.io/endpoint`];
      return announced === undefined || announced === peer.endpoint
        ? undefined
        : `${placeOf(here)} sends to ${peer.endpoint ?? 'nowhere'}; ${node.name} of ${here.remote.name} announces ${announced}`;
    },
  }),
  checkOfEach('allowed-ips-agree', {
    hint: 'wait a minute; then look at the log of the Pod, and at podSubnet of the remote',
    subjects: (readings) => peerNodes(readings).filter(({ here }) => here.remote.config.allowedIPsFrom === 'podCIDRs'),
    detailOf: ({ here, peer, node }) => {
      const missing = cidrsOf(node.podCidrs)
        .filter((cidr) => isUsed(cidr, here) && !peer.allowedIps.includes(cidr.text))
        .map(({ text }) => text);
      return missing.length === 0
        ? undefined
        : `${placeOf(here)} sends nothing for ${missing.join(', ')} to the node ${node.name} of ${here.remote.name}`;
    },
  }),
  checkOfEach('subnets-agree', {
    hint: 'set podSubnet of the remote to the pod addresses of that cluster',
    subjects: (readings) =>
      bothSides(readings).flatMap(({ here, there }) => {
        const reading = readings.find(({ cluster }) => cluster === there[0]?.cluster);
        const ranges = reading && podRangesOf(reading);
        return ranges?.known === true ? [{ here, ranges: ranges.value }] : [];
      }),
    detailOf: ({ here, ranges }) => {
      const { name, config } = here.remote;
      const subnets = cidrsOf(config.podSubnets ?? []);
      const outside = ranges.filter(
        (range) => isUsed(range, here) && !subnets.some((subnet) => containsCidr(subnet, range)),
      );
      return outside.length === 0
        ? undefined
        : `${placeOf(here)} has no route to ${outside.map(({ text }) => text).join(', ')} of ${name}`;
    },
  }),
  checkOfEach('mtu-agrees', {
    hint: 'set mtu of the remote to the same on both sides',
    subjects: bothSides,
    detailOf: ({ here, ours, there }) => {
      const theirs = there.find(({ remote }) => remote.name === ours)?.remote.config.mtuBytes;
      const { name, config } = here.remote;
      // Where it is measured, each node has its own.
      return theirs == null || config.mtuBytes == null || theirs === config.mtuBytes
        ? undefined
        : `${placeOf(here)} has the MTU ${config.mtuBytes} for ${name}, which has ${theirs}`;
    },
  }),
];
