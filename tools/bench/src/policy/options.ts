import { parseArgs } from 'node:util';
import { raceFlags, type RaceOptions, raceOptions } from '../race-options.ts';
import { natural, parsing, UsageError } from '../shared-options.ts';
import { MOST_REMOTES } from './fleet.ts';

/** What the bench of semaphore-policy is asked to do; pods are what changes. */
export type PolicyOptions = RaceOptions & {
  readonly pods: number;
  readonly sets: number;
  /** Remote clusters, each with so many pods and sets. */
  readonly remotes: number;
};

/** Its own flags, for `--help`. */
export const policyUsage = `  --pods N           pods of 15 kB in the remote cluster (10000)
  --sets N           sets that they are in, evenly (500)
  --remotes N        remote clusters, each with so many pods and sets (1); the pods of the first one change
  --changes N        pods that change their addresses, at 20 a second, and others as fast as they go (300, or half of all)
  --rollout N        pods of one set that get their addresses within 5 s (1000)
`;

/**
 * @returns `help` if that is what is asked for
 * @throws {UsageError}
 */
export function policyOptions(args: readonly string[]): PolicyOptions | 'help' {
  const values = parse(args);
  if (values.help) return 'help';
  const pods = natural('pods', values.pods, 2);
  const remotes = natural('remotes', values.remotes, 1);
  if (remotes > MOST_REMOTES) throw new UsageError(`--remotes is ${MOST_REMOTES} at most`);
  if (remotes > 1 && values.peer.length > 0) throw new UsageError('--peer is for one remote: leave out --remotes');
  return {
    pods,
    remotes,
    sets: natural('sets', values.sets, 1),
    ...raceOptions(values, { flag: 'pods', count: pods }),
  };
}

function parse(args: readonly string[]) {
  const options = {
    ...raceFlags,
    pods: { type: 'string', default: '10000' },
    sets: { type: 'string', default: '500' },
    remotes: { type: 'string', default: '1' },
    rollout: { type: 'string', default: '1000' },
  } as const;
  return parsing(() => parseArgs({ args: [...args], options }).values);
}
