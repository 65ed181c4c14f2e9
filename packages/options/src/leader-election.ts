import { bad, type Parsed } from '@kube-semaphore/net';
import { formatDuration } from './duration.ts';
import { spellingOf, variableOf, type OptionTable, type OptionType } from './table.ts';
import { boolean, duration, text } from './types.ts';

/** How the replicas of an app find the one that writes. */
export type LeaderElectionOptions = {
  readonly leaderElect: boolean;
  /** Undefined: what the app says in `absent`. */
  readonly leaseName: string | undefined;
  /** Undefined: the namespace of the pod. */
  readonly leaseNamespace: string | undefined;
  /** Where the replicas of an earlier release have a Lease of the same name; undefined: nowhere. */
  readonly previousLeaseNamespace: string | undefined;
  /** How long the others leave a Lease alone that isn't renewed; whole seconds, as it says in the Lease. */
  readonly leaseDurationMs: number;
  /** How long after its last renewal a leader still begins to write. */
  readonly renewDeadlineMs: number;
  /** Between two renewals, and between two looks of those that don't lead. */
  readonly retryPeriodMs: number;
};

/** Longer, and a crashed leader would be missed for more than an hour. */
const LONGEST_LEASE_MS = 3_600_000;

/** Renewals may come later than asked for by so much, and there must be room for one before the deadline. */
const JITTER_FACTOR = 1.2;

/**
 * The rows of `LeaderElectionOptions`; `leaderElectionProblems` has the rules across them.
 *
 * @param prefix of the app's variables: `SP`
 * @param leaseName how help describes the name that the app gives the Lease itself: `semaphore-policy-<cluster>`
 */
export function leaderElectionOptions({
  prefix,
  leaseName,
}: {
  prefix: string;
  leaseName: string;
}): OptionTable<LeaderElectionOptions> {
  const row = (flag: string) => ({ flag, env: variableOf(prefix, flag), group: 'Leader election' });
  return {
    leaderElect: {
      ...row('leader-elect'),
      type: boolean,
      fallback: false,
      help: 'Writes only while holding a Lease; required for several replicas.',
    },
    leaseName: {
      ...row('lease-name'),
      type: text('name'),
      absent: leaseName,
      help: 'Name of the Lease; one of the replicas that share it writes.',
    },
    leaseNamespace: {
      ...row('lease-namespace'),
      type: text('namespace'),
      absent: 'the pod’s',
      help: 'Namespace of the Lease.',
    },
    previousLeaseNamespace: {
      ...row('previous-lease-namespace'),
      type: text('namespace'),
      absent: 'none',
      help: 'Old namespace of the Lease; the leader also holds one that exists there.',
    },
    leaseDurationMs: {
      ...row('lease-duration'),
      type: leaseDuration,
      fallback: 15_000,
      help: 'Time from the last renewal until another replica takes over; whole seconds.',
    },
    renewDeadlineMs: {
      ...row('renew-deadline'),
      type: duration({ minMs: 1 }),
      fallback: 10_000,
      help: 'Time from the last renewal until the leader stops writing.',
    },
    retryPeriodMs: {
      ...row('retry-period'),
      type: duration({ minMs: 1 }),
      fallback: 2_000,
      help: 'Time between two renewals, or two checks by the others.',
    },
  };
}

/**
 * What is wrong with the durations of an election taken together: a leader must fall silent before the others take
 * over, and must have tried to renew before it falls silent.
 *
 * @param table where the rows are, for their spelling
 * @param config what could be read; a duration that couldn't is a problem of its own already
 * @returns sentences that name flag and variable
 */
export function leaderElectionProblems(
  table: OptionTable<LeaderElectionOptions>,
  { leaseDurationMs = Infinity, renewDeadlineMs, retryPeriodMs = 0 }: Partial<LeaderElectionOptions>,
): string[] {
  if (renewDeadlineMs === undefined) return [];
  const deadline = `${spellingOf(table.renewDeadlineMs)}: ${formatDuration(renewDeadlineMs)}`;
  const problems: string[] = [];
  if (renewDeadlineMs >= leaseDurationMs) {
    problems.push(`${deadline} is not less than ${formatDuration(leaseDurationMs)}, the lease duration`);
  }
  if (renewDeadlineMs <= retryPeriodMs * JITTER_FACTOR) {
    const period = formatDuration(retryPeriodMs);
    problems.push(`${deadline} is not more than ${JITTER_FACTOR} times ${period}, the retry period`);
  }
  return problems;
}

/** A Lease counts in seconds: a fraction would be lost to the others, who would take over too early. */
const leaseDuration: OptionType<number> = {
  ...duration(),
  parse(raw): Parsed<number> {
    const parsed = duration({ minMs: 1_000 }).parse(raw);
    if (!parsed.ok) return parsed;
    if (parsed.value % 1_000 !== 0) return bad(`${JSON.stringify(raw)} is no whole number of seconds`);
    if (parsed.value <= LONGEST_LEASE_MS) return parsed;
    return bad(`${JSON.stringify(raw)} is more than ${formatDuration(LONGEST_LEASE_MS)}`);
  },
};
