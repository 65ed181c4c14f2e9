import { availableParallelism } from 'node:os';
import { deployedRights, rulesOf } from '@kube-semaphore/testkit';
import { type Clusters, CONNECTIONS, type Rights, startClusters } from '../load/clusters.ts';
import { type Contender, ours } from '../measure/contender.ts';
import { inParallel } from '../measure/pace.ts';
import type { Result } from '../phases/result.ts';
import { runOnce, type Trial } from '../phases/run.ts';
import { medianFact, type Report } from '../report/report.ts';
import { wireGuardFlags } from './commands.ts';
import { wireGuardFigures } from './figures.ts';
import { measureWireGuard } from './measure.ts';
import type { WireGuardBenchOptions } from './options.ts';
import { nodeObject, type RemoteNode, remoteNode } from './remote-nodes.ts';
import { findRequirements } from './requirements.ts';
import { Station } from './station.ts';

const NODES = '/api/v1/nodes';

/** The deployed rights of semaphore-wireguard. */
const wireGuardRights: Rights = {
  remote: rulesOf(deployedRights('wireguard/remote')),
  local: rulesOf(deployedRights('wireguard/base')),
};

/**
 * The bench of semaphore-wireguard: in each round, a remote cluster with Nodes, a local one with a single Node, and the
 * agent of that, in its own network. No other program is measured.
 *
 * @param launcher of our program
 * @param say called with the progress
 * @throws {RequirementsError} if something is missing on this machine
 */
export async function benchWireGuard(
  options: WireGuardBenchOptions,
  { launcher, say }: { launcher: string; say: (what: string) => void },
): Promise<Report> {
  const { nodes, encoding, embedded, repeat } = options;
  const wireGuardGo = findRequirements();
  const contender = ours(launcher, encoding, wireGuardFlags);
  const rounds: Result[] = [];
  let server = '';
  for (let round = 1; round <= repeat; round++) {
    const sayRound = (what: string) => say(`round ${round} of ${repeat}: ${what}`);
    // New clusters, as an agent keeps its device, and each Node changes once.
    const clusters = await startClusters(embedded ? 'embedded' : 'real', { remotes: 1 });
    ({ server } = clusters);
    try {
      rounds.push(await oneRound(clusters, { contender, wireGuardGo, options, say: sayRound }));
    } finally {
      await clusters.stop();
    }
  }
  // Targets are for the real server and protobuf, the default.
  const judged = !embedded && encoding === 'auto';
  return {
    facts: facts(options, server),
    columns: [{ name: contender.name, rounds }],
    figures: wireGuardFigures(judged ? { nodes } : undefined),
  };
}

async function oneRound(
  clusters: Clusters,
  {
    contender,
    wireGuardGo,
    options,
    say,
  }: { contender: Contender; wireGuardGo: string; options: WireGuardBenchOptions; say: (what: string) => void },
): Promise<Result> {
  say(`loading ${options.nodes} nodes`);
  const nodes = Array.from({ length: options.nodes }, (_, index) => remoteNode(index));
  await load(clusters, nodes);
  const station = await Station.start(clusters, wireGuardGo);
  const measure = (trial: Trial) => measureWireGuard({ clusters, station, nodes }, trial, options);
  const entrant = { contender: station.carrying(contender), measure };
  return runOnce(entrant, clusters, 'program', { rights: wireGuardRights, cleanUp: () => station.stop(), say });
}

async function load({ remote }: Clusters, remoteNodes: readonly RemoteNode[]): Promise<void> {
  await inParallel(remoteNodes, CONNECTIONS, (node) => remote.api.admin.create(NODES, nodeObject(node)));
}

function facts({ nodes: count, encoding, repeat }: WireGuardBenchOptions, server: string): string[] {
  const kilobytes = (Buffer.byteLength(JSON.stringify(nodeObject(remoteNode(0)))) / 1000).toFixed(1);
  return [
    `${count} remote nodes of ${kilobytes} kB of JSON each, read as ${encoding === 'json' ? 'JSON' : 'protobuf'}; no peer answers`,
    'wireguard-go carries the tunnels',
    medianFact(repeat),
    `${availableParallelism()} cores for everything, Node.js ${process.version}, ${server}`,
  ];
}
