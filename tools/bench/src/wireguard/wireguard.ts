import { availableParallelism } from 'node:os';
import { deployedRights, rulesOf } from '@kube-semaphore/testkit';
import { type Clusters, CONNECTIONS, type Rights, startClusters } from '../load/clusters.ts';
import { ours } from '../measure/contender.ts';
import { inParallel } from '../measure/pace.ts';
import { runAll, type Trial } from '../phases/run.ts';
import type { Report } from '../report/report.ts';
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
 * The bench of semaphore-wireguard: a remote cluster with Nodes, a local one with a single Node, and the agent of that,
 * in its own network.
 *
 * @param launcher of our program
 * @param say called with the progress
 * @throws {RequirementsError} if something is missing on this machine
 */
export async function benchWireGuard(
  options: WireGuardBenchOptions,
  { launcher, say }: { launcher: string; say: (what: string) => void },
): Promise<Report> {
  const { nodes: count, encoding, embedded } = options;
  const wireGuardGo = findRequirements();
  say('starting 2 clusters');
  const clusters = await startClusters(embedded ? 'embedded' : 'real', { remotes: 1 });
  try {
    say(`loading ${count} nodes`);
    const remoteNodes = Array.from({ length: count }, (_, index) => remoteNode(index));
    await load(clusters, remoteNodes);
    const station = await Station.start(clusters, wireGuardGo);
    const entrant = {
      contender: station.carrying(ours(launcher, encoding, wireGuardFlags)),
      measure: (trial: Trial) => measureWireGuard({ clusters, station, nodes: remoteNodes }, trial, options),
    };
    const results = await runAll([entrant], clusters, { rights: wireGuardRights, cleanUp: () => station.stop(), say });
    // Budgets are for the real server and protobuf, the default.
    const judged = !embedded && encoding === 'auto';
    return {
      facts: facts(options, clusters.server),
      results,
      figures: wireGuardFigures(judged ? { nodes: count } : undefined),
    };
  } finally {
    await clusters.stop();
  }
}

async function load({ remote }: Clusters, remoteNodes: readonly RemoteNode[]): Promise<void> {
  await inParallel(remoteNodes, CONNECTIONS, (node) => remote.api.admin.create(NODES, nodeObject(node)));
}

function facts({ nodes: count, encoding }: WireGuardBenchOptions, server: string): string[] {
  const kilobytes = (Buffer.byteLength(JSON.stringify(nodeObject(remoteNode(0)))) / 1000).toFixed(1);
  return [
    `${count} remote nodes of ${kilobytes} kB of JSON each, read as ${encoding === 'json' ? 'JSON' : 'protobuf'}; no peer answers`,
    'wireguard-go carries the tunnels',
    `${availableParallelism()} cores for everything, Node.js ${process.version}, ${server}`,
  ];
}
