import {
  natural,
  sharedFlags,
  type SharedOptions,
  sharedOptions,
  type SharedValues,
  UsageError,
} from './shared-options.ts';

/** The options of a bench that runs several programs on the same clusters. */
export type RaceOptions = SharedOptions & {
  /** Commands of other programs. */
  readonly peers: readonly string[];
  /** Number of changes at a steady rate, and of others in a burst. */
  readonly changes: number;
  readonly rolloutPods: number;
};

/** The flags of `RaceOptions` for `parseArgs`; each app sets the default of `rollout`. */
export const raceFlags = {
  ...sharedFlags,
  peer: { type: 'string', multiple: true, default: [] as string[] },
  changes: { type: 'string' },
} as const;

/** The shared flag, for `--help`. */
export const raceUsage = `  --peer 'CMD'       also measures another program; repeatable. Its command can use {local} and {remote},
                     which are kubeconfig files, and {cluster}, the name of the remote cluster
`;

/** The result of `parseArgs` for `raceFlags`. */
type Values = SharedValues & {
  readonly peer: readonly string[];
  readonly changes?: string | undefined;
  readonly rollout: string;
};

/** Maximum of the default number of changes. */
const CHANGES = 300;

/**
 * @param subjects the flag and the number of objects, each of which changes at most once
 * @throws {UsageError}
 */
export function raceOptions(values: Values, subjects: { flag: string; count: number }): RaceOptions {
  const most = Math.floor(subjects.count / 2);
  const changes = values.changes === undefined ? Math.min(CHANGES, most) : natural('changes', values.changes, 1);
  if (changes > most)
    throw new UsageError(`--changes must be at most half of --${subjects.flag}, as each changes once`);
  return { ...sharedOptions(values), peers: values.peer, changes, rolloutPods: natural('rollout', values.rollout, 1) };
}
