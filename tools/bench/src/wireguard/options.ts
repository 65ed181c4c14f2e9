import { parseArgs } from 'node:util';
import { natural, parsing, sharedFlags, type SharedOptions, sharedOptions, UsageError } from '../shared-options.ts';
import { MOST_NODES } from './remote-nodes.ts';

/** What the bench of semaphore-wireguard is asked to do. */
export type WireGuardBenchOptions = SharedOptions & {
  /** In the remote cluster. */
  readonly nodes: number;
  /** Remote Nodes that get another endpoint, one after the other. */
  readonly changes: number;
  /** How often /metrics is read, in the pace of a Prometheus. */
  readonly scrapes: number;
};

/** Its own flags, for `--help`. */
export const wireGuardUsage = `  --nodes N          nodes of the remote cluster, each a peer (1000)
  --changes N        nodes that get another endpoint, one after the other (20, or all)
  --scrapes N        times that /metrics is read, 15 s apart (5)
`;

/** Most changes unless more are asked for. */
const CHANGES = 20;

/**
 * @returns `help` if that is what is asked for
 * @throws {UsageError}
 */
export function wireGuardOptions(args: readonly string[]): WireGuardBenchOptions | 'help' {
  const values = parse(args);
  if (values.help) return 'help';
  const nodes = natural('nodes', values.nodes, 1);
  if (nodes > MOST_NODES) throw new UsageError(`--nodes is ${MOST_NODES} at most`);
  const changes = values.changes === undefined ? Math.min(CHANGES, nodes) : natural('changes', values.changes, 1);
  if (changes > nodes) throw new UsageError('--changes is --nodes at most: each changes once');
  return { nodes, changes, scrapes: natural('scrapes', values.scrapes, 1), ...sharedOptions(values) };
}

function parse(args: readonly string[]) {
  const options = {
    ...sharedFlags,
    nodes: { type: 'string', default: '1000' },
    changes: { type: 'string' },
    scrapes: { type: 'string', default: '5' },
  } as const;
  return parsing(() => parseArgs({ args: [...args], options }).values);
}
