// What is hard to foresee beside all else that the other subject does: keys that rotate, silent nodes, and blocks of Calico.
import { ipamCrds } from '@kube-semaphore/testkit';
import { brokenTools } from '../sites/node.ts';
import { livingNode, rotatedView, secondPorts, startRotatingNode } from '../sites/rotation.ts';
import { startWitness } from '../sites/silent.ts';
import { CLOCKS_AHEAD_MS, type Remote, type Subject } from '../subject.ts';
import { AFFINITIES, BLOCKS, changedBlock, claimsBy, stayingBlock } from './blocks.ts';
import {
  COMING,
  configWith,
  facts,
  NODES,
  nodeOf,
  ownKeys,
  peersNever,
  peersOf,
  peerViews,
  settings,
  wanted,
  wireguard,
} from './wireguard.ts';

/** With `keyRotation`: a user asks for new keys, and one of the Nodes answers. */
export const rotating: Subject = {
  ...wireguard,
  config: configWith((name) => ({ keyRotation: { secondPort: secondPorts[name] } })),
  staying: [livingNode, ...wireguard.staying],
  change: (dice) => nodeOf(dice, { rotates: true }),
  tampers: 'keys asked for',
  // A rotation takes three minutes.
  pausesMs: [0, 100, 1_000, 5_000, 10_000, 20_000],
  clocksMs: CLOCKS_AHEAD_MS,
  breaks: brokenTools,
  wanted: (state, remotes) => {
    const found = remotes.map((remote) => {
      const { wgListenPort: port } = settings[remote as Remote];
      return [
        remote,
        { publicKey: ownKeys[remote as Remote].publicKey, state: 'over', ports: `${port},${secondPorts[remote]}` },
      ] as const;
    });
    return rotatedView(wanted(state, remotes), Object.fromEntries(found));
  },
  site: (clusters, input) => startRotatingNode(facts, clusters, input),
  metrics: (view, remotes) => [
    ...peersNever(view, remotes).map(([name, labels, count]): ReturnType<Subject['metrics']>[number] => [
      name,
      labels,
      count - Number(labels['device'] === 'wireguard.c2'),
    ]),
    ...remotes.map((remote) => ['key_rotation_laggards', { remote }, 0] as const),
  ],
};

/** Of Nodes that stay, in the other variant. */
const stayingBlocks = [1, 2].flatMap((i) =>
  [`10.5.${i}.0/26`, `fd00:5:0:${i}::/122`].map((cidr) => ({ name: `stays-${i}`, cidr })),
);

/** c3 has blocks of Calico, and nodes of c2 that don't answer are named. */
export const witnessing: Subject = {
  ...wireguard,
  rights: { ...wireguard.rights, remote: ['wireguard/remote', 'wireguard/components/calico-blocks'] },
  crds: ipamCrds(),
  config: configWith((name) =>
    name === 'c3'
      ? { allowedIPsFrom: 'calico-blocks' }
      : name === 'c2'
        ? { reportSilentAfter: '20s', deviceAddress: 'auto' }
        : {},
  ),
  staying: [...stayingBlocks.map(({ name, cidr }) => stayingBlock('c3', name, cidr)), ...wireguard.staying],
  sources: [NODES, AFFINITIES, BLOCKS],
  change(dice) {
    const names = Array.from({ length: COMING }, (_, nth) => `comes-${nth + 1}`);
    return dice.integer(1, 3) === 1 ? changedBlock(dice, 'c3', names) : nodeOf(dice, { reached: true });
  },
  wanted(state, inFile) {
    const remotes = inFile as readonly Remote[];
    const view = Object.entries(wanted(state, remotes)).filter(([name]) => !name.startsWith('c3 '));
    const { [NODES]: nodes = [], [AFFINITIES]: affinities = [], [BLOCKS]: blocks = [] } = state['c3']!;
    const claims = claimsBy(affinities, blocks);
    const silent = peersOf(state['c2']![NODES]!, { cluster: 'c2', remotes }).filter(
      ({ endpoint }) => endpoint !== undefined,
    );
    return {
      ...Object.fromEntries(view),
      ...(remotes.includes('c3') &&
        peerViews(
          peersOf(nodes, { cluster: 'c3', remotes }, (each) => claims(each.metadata.name)),
          'c3',
        )),
      ...(remotes.includes('c2') && { 'silent c2': silent.map(({ name }) => name).toSorted() }),
    };
  },
  site: (clusters, input) => {
    const staying = facts.staying.map((each, nth) =>
      each.cluster === 'c2'
        ? each
        : {
            ...each,
            podCIDRs: stayingBlocks.filter(({ name }) => name === `stays-${(nth % 2) + 1}`).map(({ cidr }) => cidr),
          },
    );
    return startWitness('c2', { ...facts, staying }, clusters, input);
  },
};
