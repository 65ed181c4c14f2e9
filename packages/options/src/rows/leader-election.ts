import { bad, type Parsed } from '@kube-semaphore/net';
import { formatDuration } from '../duration.ts';
import { spellingOf, type OptionRows, type OptionTable, type OptionType } from '../table.ts';
import { boolean, duration, text } from '../types.ts';

/** How the replicas of an app elect the one that writes. */
export type LeaderElectionOptions = {
  readonly leaderElect: boolean;
  /** Undefined: the name that the app gives the Lease. */
  readonly leaseName: string | undefined;
  /** Undefined: the namespace of the pod. */
  readonly leaseNamespace: string | undefined;
  /** Where the replicas of an earlier release have a Lease of the same name; undefined: nowhere. */
  readonly previousLeaseNamespace: string | undefined;
  /** How long the others leave a Lease alone that isn't renewed; whole seconds, as the Lease has no fractions. */
  readonly leaseDurationMs: number;
  /** How long after its last renewal a leader still begins to write. */
  readonly renewDeadlineMs: number;
  /** Between two renewals, and between two checks of those that don't lead. */
  readonly retryPeriodMs: number;
};

/** With a longer one, a crashed leader has no successor for more than an hour. */
const LONGEST_LEASE_MS = 3_600_000;

/** A renewal may be late by this factor, and there must be time for one before the deadline. */
const JITTER_FACTOR = 1.2;

/** A Lease has whole seconds: the others would lose a fraction, and take over too early. */
const leaseDuration: OptionType<number> = {
  ...duration(),
  parse(raw): Parsed<number> {
    const parsed = duration({ minMs: 1_000 }).parse(raw);
    if (!parsed.ok) return parsed;
    if (parsed.value % 1_000 !== 0) return bad(`${JSON.stringify(raw)} is not a whole number of seconds`);
    if (parsed.value <= LONGEST_LEASE_MS) return parsed;
    return bad(`${JSON.stringify(raw)} is more than ${formatDuration(LONGEST_LEASE_MS)}`);
  },
};

/**
 * The rows of `LeaderElectionOptions`; `leaderElectionProblems` has the rules across them.
 *
 * @param leaseName how help describes the name that the app gives the Lease: `semaphore-policy-<cluster>`
 */
export const leaderElectionRows = (leaseName: string): OptionRows<LeaderElectionOptions> => ({
  leaderElect: {
    flag: 'leader-elect',
    group: 'Leader election',
    type: boolean,
    fallback: false,
    help: 'Writes only while holding a Lease; required for several replicas.',
  },
  leaseName: {
    flag: 'lease-name',
    group: 'Leader election',
    type: text('name'),
    absent: leaseName,
    help: 'Name of the Lease; one of the replicas that share it writes.',
  },
  leaseNamespace: {
    flag: 'lease-namespace',
    group: 'Leader election',
    type: text('namespace'),
    absent: 'the pod’s',
    help: 'Namespace of the Lease.',
  },
  previousLeaseNamespace: {
    flag: 'previous-lease-namespace',
    group: 'Leader election',
    type: text('namespace'),
    absent: 'none',
    help: 'Old namespace of the Lease; the leader also holds one that exists there.',
  },
  leaseDurationMs: {
    flag: 'lease-duration',
    group: 'Leader election',
    type: leaseDuration,
    fallback: 15_000,
    help: 'Time from the last renewal until another replica takes over; whole seconds.',
  },
  renewDeadlineMs: {
    flag: 'renew-deadline',
    group: 'Leader election',
    type: duration({ minMs: 1 }),
    fallback: 10_000,
    help: 'Time from the last renewal until the leader stops writing.',
  },
  retryPeriodMs: {
    flag: 'retry-period',
    group: 'Leader election',
    type: duration({ minMs: 1 }),
    fallback: 2_000,
    help: 'Time between two renewals, or two checks by the others.',
  },
});

/**
 * What is wrong with the durations of an election taken together: a leader must stop writing before the others take
 * over, and must have tried to renew before it stops.
 *
 * @param config what could be read; a duration that couldn't is already a problem
 * @returns sentences that name flag and variable
 */
export function leaderElectionProblems(
  table: Pick<OptionTable<LeaderElectionOptions>, 'renewDeadlineMs'>,
  { leaseDurationMs = Infinity, renewDeadlineMs, retryPeriodMs = 0 }: Partial<LeaderElectionOptions>,
): string[] {
  if (renewDeadlineMs === undefined) return [];
  const deadline = `${spellingOf(table.renewDeadlineMs)}: ${formatDuration(renewDeadlineMs)}`;
  const problems: string[] = [];
  if (renewDeadlineMs >= leaseDurationMs)
    problems.push(`${deadline} is not less than ${formatDuration(leaseDurationMs)}, the lease duration`);
  if (renewDeadlineMs <= retryPeriodMs * JITTER_FACTOR)
    problems.push(
      `${deadline} is not more than ${JITTER_FACTOR} times ${formatDuration(retryPeriodMs)}, the retry period`,
    );
  return problems;
}
