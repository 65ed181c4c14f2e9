import { type Lease, microTime } from '@kube-semaphore/kube-objects';

/** The durations of an election: `leaseDurationMs` > `renewDeadlineMs` > 1.2 · `retryPeriodMs`. */
export type LeaderTimes = {
  /** How long the others leave a Lease alone that doesn't change. Whole seconds: the Lease has no fractions. */
  readonly leaseDurationMs: number;
  /** How long after its last renewal a leader still begins to write. */
  readonly renewDeadlineMs: number;
  /** Between two renewals, and between two reads of a Lease that another replica holds. */
  readonly retryPeriodMs: number;
};

/** The Lease as one replica knows it. */
export type Sighting = {
  /** As it was read or written last; undefined: it is missing. */
  readonly lease: Lease | undefined;
  /** Empty: none, or unknown. */
  readonly holder: string;
  /** By the local clock: when a silent holder loses the Lease. */
  readonly heldUntilMs: number;
};

/** What to do about the Lease: leave it to its holder, or write it. */
export type Decision =
  | { readonly kind: 'wait' }
  | { readonly kind: 'create'; readonly spec: Lease['spec'] }
  | { readonly kind: 'update'; readonly lease: Lease };

/** The replica that decides, and when. */
export type Candidate = {
  readonly identity: string;
  /** Whether it holds the Lease by its own clock: then it may create it again if it was deleted. */
  readonly leads: boolean;
  readonly leaseDurationMs: number;
  readonly nowMs: number;
  /** For people who read the Lease. */
  readonly epochMs: number;
};

/** What a replica knows at first. */
export const UNSEEN: Sighting = { lease: undefined, holder: '', heldUntilMs: -Infinity };

/** A wait is up to a fifth longer, so that replicas don't ask in step. */
const JITTER_FACTOR = 1.2;

/**
 * What a replica knows after another read. The time of a holder begins when a change is first _seen_, by the clock of
 * the replica that sees it, as in client-go. Any new version is a change. The times in a Lease depend on the clock of
 * its holder, and could be equal if that was set back.
 *
 * People delete a Lease; releasing doesn't. Its last holder doesn't know yet, so it is held for another full time.
 *
 * @param nowMs when the answer came: never before the change that it shows
 */
export function see(
  before: Sighting,
  lease: Lease | undefined,
  { nowMs, leaseDurationMs }: { nowMs: number; leaseDurationMs: number },
): Sighting {
  if (isSameVersion(before.lease, lease)) return before;
  if (lease === undefined) return { lease, holder: '', heldUntilMs: nowMs + leaseDurationMs };
  const { holderIdentity, leaseDurationSeconds } = lease.spec;
  const heldUntilMs = holderIdentity === '' ? -Infinity : nowMs + leaseDurationSeconds * 1000;
  return { lease, holder: holderIdentity, heldUntilMs };
}

/**
 * Takes the Lease if it is free or the time of its holder is over, renews it if it is ours. The write names the version
 * that was seen, so the API server accepts only one of several replicas that decide the same at the same time.
 */
export function decide({ lease, holder, heldUntilMs }: Sighting, candidate: Candidate): Decision {
  const { identity, leads, leaseDurationMs, nowMs, epochMs } = candidate;
  const isOurs = lease === undefined ? leads : holder === identity;
  if (!isOurs && nowMs < heldUntilMs) return { kind: 'wait' };
  const spec = {
    holderIdentity: identity,
    leaseDurationSeconds: leaseDurationMs / 1000,
    ...bothTimes(epochMs),
    leaseTransitions: 0,
  };
  if (lease === undefined) return { kind: 'create', spec };
  const { acquireTime, leaseTransitions } = lease.spec;
  const history = isOurs
    ? { acquireTime: acquireTime || spec.acquireTime, leaseTransitions }
    : { leaseTransitions: leaseTransitions + 1 };
  return { kind: 'update', lease: { ...lease, spec: { ...spec, ...history } } };
}

/**
 * How long a replica that doesn't lead waits for its next attempt: a period and up to a fifth, but at most until the
 * time of the holder is over. client-go waits up to 2.2 periods, so this sees a release sooner.
 */
export function nextAttemptMs(
  { heldUntilMs }: Sighting,
  { nowMs, retryPeriodMs, random }: { nowMs: number; retryPeriodMs: number; random: () => number },
): number {
  const periodMs = retryPeriodMs * (1 + random() * (JITTER_FACTOR - 1));
  const leftMs = heldUntilMs - nowMs;
  return leftMs > 0 ? Math.min(periodMs, leftMs) : periodMs;
}

/** The Lease as its holder releases it: what client-go writes with ReleaseOnCancel. */
export function released(lease: Lease, epochMs: number): Lease {
  const { leaseTransitions } = lease.spec;
  return { ...lease, spec: { holderIdentity: '', leaseDurationSeconds: 1, ...bothTimes(epochMs), leaseTransitions } };
}

/**
 * How long after the last renewal a write may run. A fifth of the time between the deadline and the end of the Lease
 * stays free, 1 s of the default 5 s: for an abort to take effect, for a request that the API server already processes,
 * and for clocks of different speed.
 */
export function writesEndMs({ leaseDurationMs, renewDeadlineMs }: LeaderTimes): number {
  return leaseDurationMs - (leaseDurationMs - renewDeadlineMs) / 5;
}

function bothTimes(epochMs: number): { acquireTime: string; renewTime: string } {
  const time = microTime(epochMs);
  return { acquireTime: time, renewTime: time };
}

/** A missing Lease equals a missing one. */
function isSameVersion(a: Lease | undefined, b: Lease | undefined): boolean {
  return a?.metadata.uid === b?.metadata.uid && a?.metadata.resourceVersion === b?.metadata.resourceVersion;
}
