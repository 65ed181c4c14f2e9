import {
  natural,
  sharedFlags,
  type SharedOptions,
  sharedOptions,
  type SharedValues,
  UsageError,
} from './shared-options.ts';

/** What a bench is asked that runs several programs, one after the other, on the same clusters. */
export type RaceOptions = SharedOptions & {
  /** Commands of other programs. */
  readonly peers: readonly string[];
  /** At a steady rate, and as many others in a burst. */
  readonly changes: number;
  readonly rolloutPods: number;
};

/** The rows of `RaceOptions`, as `parseArgs` takes them; `rollout` has a default that each app sets. */
export const raceFlags = {
  ...sharedFlags,
  peer: { type: 'string', multiple: true, default: [] as string[] },
  changes: { type: 'string' },
} as const;

/** The flag that these have in common, for `--help`. */
export const raceUsage = `  --peer 'CMD'       also runs another program with the same flags, as often as given; in it {local} and {remote} stand for
                     kubeconfig files, {cluster} for the remote cluster's name
`;

/** What `parseArgs` has made of `raceFlags`. */
type Values = SharedValues & {
  readonly peer: readonly string[];
  readonly changes?: string | undefined;
  readonly rollout: string;
};

/** Most changes unless more are asked for. */
const CHANGES = 300;

/**
 * @param subjects the flag that says how much there is to change, and its value: each changes once at most
 * @throws {UsageError}
 */
export function raceOptions(values: Values, subjects: { flag: string; count: number }): RaceOptions {
  const most = Math.floor(subjects.count / 2);
  const changes = values.changes === undefined ? Math.min(CHANGES, most) : natural('changes', values.changes, 1);
  if (changes > most) throw new UsageError(`--changes is half of --${subjects.flag} at most: each changes once`);
  return { ...sharedOptions(values), peers: values.peer, changes, rolloutPods: natural('rollout', values.rollout, 1) };
}
