import { parseArgs } from 'node:util';
import { MOST_REMOTES } from './load/fleet.ts';

/** What a bench is asked to do. */
export type BenchOptions = {
  readonly pods: number;
  readonly sets: number;
  /** Remote clusters, each with so many pods and sets. */
  readonly remotes: number;
  readonly embedded: boolean;
  readonly encoding: 'auto' | 'json';
  /** Commands of other programs. */
  readonly peers: readonly string[];
  readonly changes: number;
  readonly rolloutPods: number;
  readonly settleSeconds: number;
  readonly idleSeconds: number;
  /** Files to write the results to. */
  readonly json: string | undefined;
  readonly markdown: string | undefined;
};

/** What to print for `--help`, and for a mistake. */
export const usage = `npm run bench -- policy [flags]

Measures semaphore-policy as its image has it, on API servers of its own.

  --pods N           pods of 15 kB in the remote cluster (10000)
  --sets N           sets that they are in, evenly (500)
  --remotes N        remote clusters, each with so many pods and sets (1); the pods of the first one change
  --embedded         on the embedded API server: quick, and says as much about that server as about the program
  --encoding json    ours asks for pods in JSON (auto: protobuf)
  --peer 'CMD'       also runs another program with the same flags, as often as given; {local} and {remote} stand for
                     kubeconfig files, {cluster} for the remote cluster's name
  --changes N        pods that change their addresses, at 20 a second, and others as fast as they go (300)
  --rollout N        pods of one set that get their addresses within 5 s (1000)
  --settle SECONDS   how long to wait before memory counts as settled (10)
  --idle SECONDS     also measures the CPU while nothing happens
  --json FILE        writes the results as JSON
  --markdown FILE    writes the table as Markdown
`;

/** The command line is wrong. */
export class UsageError extends Error {
  readonly code = 'USAGE';
}

/**
 * Reads the arguments after the program's name.
 *
 * @returns `help` if that is what is asked for
 * @throws {UsageError}
 */
export function parseOptions(args: readonly string[]): BenchOptions | 'help' {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  if (positionals.length !== 1 || positionals[0] !== 'policy') throw new UsageError('say what to measure: policy');
  const { encoding } = values;
  if (encoding !== 'auto' && encoding !== 'json') throw new UsageError('--encoding is auto or json');
  const pods = natural('pods', values.pods, 1);
  const changes = natural('changes', values.changes, 1);
  if (2 * changes > pods) throw new UsageError('--changes is half of --pods at most: each pod changes once');
  const remotes = natural('remotes', values.remotes, 1);
  if (remotes > MOST_REMOTES) throw new UsageError(`--remotes is ${MOST_REMOTES} at most`);
  if (remotes > 1 && values.peer.length > 0) throw new UsageError('--peer is for one remote: leave out --remotes');
  return {
    pods,
    remotes,
    sets: natural('sets', values.sets, 1),
    embedded: values.embedded,
    encoding,
    peers: values.peer,
    changes,
    rolloutPods: natural('rollout', values.rollout, 1),
    settleSeconds: natural('settle', values.settle, 0),
    idleSeconds: natural('idle', values.idle, 0),
    json: values.json,
    markdown: values.markdown,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        pods: { type: 'string', default: '10000' },
        sets: { type: 'string', default: '500' },
        remotes: { type: 'string', default: '1' },
        embedded: { type: 'boolean', default: false },
        encoding: { type: 'string', default: 'auto' },
        peer: { type: 'string', multiple: true, default: [] },
        changes: { type: 'string', default: '300' },
        rollout: { type: 'string', default: '1000' },
        settle: { type: 'string', default: '10' },
        idle: { type: 'string', default: '0' },
        json: { type: 'string' },
        markdown: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function natural(flag: string, text: string, least: number): number {
  const value = Number(text);
  if (!/^\d{1,9}$/.test(text) || value < least) throw new UsageError(`--${flag} is a whole number from ${least} up`);
  return value;
}
