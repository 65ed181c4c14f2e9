import { parseArgs } from 'node:util';
import { natural, parsing, sharedFlags, type SharedOptions, sharedOptions, UsageError } from '../shared-options.ts';
import { MOST_NODES } from './remote-nodes.ts';

/** The options of the bench of semaphore-wireguard. */
export type WireGuardBenchOptions = SharedOptions & {
  /** Number of remote Nodes. */
  readonly nodes: number;
  /** Remote Nodes whose endpoint changes, one after the other. */
  readonly changes: number;
  /** Reads of /metrics, at the interval of a Prometheus. */
  readonly scrapes: number;
};

/** Its own flags, for `--help`. */
export const wireGuardUsage = `  --nodes N          nodes of the remote cluster, each a peer (1000)
  --changes N        nodes whose endpoint changes, one after the other (20, or all)
  --scrapes N        reads of /metrics, 15 s apart (5)
`;

/** Maximum of the default number of changes. */
const CHANGES = 20;

/**
 * @returns `help` for `--help`
 * @throws {UsageError}
 */
export function wireGuardOptions(args: readonly string[]): WireGuardBenchOptions | 'help' {
  const values = parse(args);
  if (values.help) return 'help';
  const nodes = natural('nodes', values.nodes, 1);
  if (nodes > MOST_NODES) throw new UsageError(`--nodes must be at most ${MOST_NODES}`);
  const changes = values.changes === undefined ? Math.min(CHANGES, nodes) : natural('changes', values.changes, 1);
  if (changes > nodes) throw new UsageError('--changes must be at most --nodes, as each changes once');
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
