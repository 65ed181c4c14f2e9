import { parseArgs } from 'node:util';
import { raceFlags, type RaceOptions, raceOptions } from '../race-options.ts';
import { natural, parsing, UsageError } from '../shared-options.ts';
import { MOST_REMOTES } from './fleet.ts';

/** The options of the bench of semaphore-policy; pods change. */
export type PolicyOptions = RaceOptions & {
  readonly pods: number;
  readonly sets: number;
  /** Number of remote clusters. */
  readonly remotes: number;
  /** Companions of NetworkPolicies instead of sets; undefined: sets. */
  readonly networkPolicies: { readonly labelSets: number } | undefined;
};

/** Its own flags, for `--help`. */
export const policyUsage = `  --pods N           pods of 15 kB in the remote cluster (10000)
  --sets N           sets of these pods, of equal size (500)
  --remotes N        remote clusters with these pods and sets (1); pods of the first one change
  --changes N        pods whose address changes, at 20 a second, and then as many others at full speed (300, or half of all)
  --rollout N        pods of one set that get their addresses within 5 s (1000)
  --network-policies companions of NetworkPolicies instead of sets, one for each set (50000 pods in 1000 sets)
  --label-sets N     with --network-policies: distinct labels of the pods, evenly in all sets (12000)
`;

/**
 * @returns `help` for `--help`
 * @throws {UsageError}
 */
export function policyOptions(args: readonly string[]): PolicyOptions | 'help' {
  const values = parse(args);
  if (values.help) return 'help';
  const isExtended = values['network-policies'];
  const pods = natural('pods', values.pods ?? (isExtended ? '50000' : '10000'), 2);
  const remotes = natural('remotes', values.remotes, 1);
  if (remotes > MOST_REMOTES) throw new UsageError(`--remotes must be at most ${MOST_REMOTES}`);
  if (isExtended && (remotes > 1 || values.peer.length > 0))
    throw new UsageError('--network-policies measures ours, with a single remote: omit --remotes and --peer');
  if (remotes > 1 && values.peer.length > 0) throw new UsageError('--peer needs a single remote: omit --remotes');
  return {
    pods,
    remotes,
    sets: natural('sets', values.sets ?? (isExtended ? '1000' : '500'), 1),
    networkPolicies: isExtended ? { labelSets: natural('label-sets', values['label-sets'], 1) } : undefined,
    ...raceOptions(values, { flag: 'pods', count: pods }),
  };
}

function parse(args: readonly string[]) {
  const options = {
    ...raceFlags,
    pods: { type: 'string' },
    sets: { type: 'string' },
    'network-policies': { type: 'boolean', default: false },
    'label-sets': { type: 'string', default: '12000' },
    remotes: { type: 'string', default: '1' },
    rollout: { type: 'string', default: '1000' },
  } as const;
  return parsing(() => parseArgs({ args: [...args], options }).values);
}
