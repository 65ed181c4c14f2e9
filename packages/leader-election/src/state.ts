import { type Lease, microTime } from '@kube-semaphore/kube-objects';

/** The durations of an election: `leaseDurationMs` > `renewDeadlineMs` > 1.2 · `retryPeriodMs`. */
export type LeaderTimes = {
  /** How long the others leave a Lease alone in which they see nothing move. Whole seconds: it is in the Lease. */
  readonly leaseDurationMs: number;
  /** How long after its last renewal a leader still begins to write. */
  readonly renewDeadlineMs: number;
  /** Between two renewals, and between two looks at the Lease of another. */
  readonly retryPeriodMs: number;
};

/** The Lease as one replica knows it. */
export type Sighting = {
  /** As it was read or written last; undefined while there is none. */
  readonly lease: Lease | undefined;
  /** Who holds it; `''` is nobody, or nobody that we know of. */
  readonly holder: string;
  /** By the local clock: so long a holder is left alone that gives no sign of life. */
  readonly heldUntilMs: number;
};

/** What to do about the Lease: leave it to its holder, or write it. */
export type Decision =
  | { readonly kind: 'wait' }
  | { readonly kind: 'create'; readonly spec: Lease['spec'] }
  | { readonly kind: 'update'; readonly lease: Lease };

/** Who decides, and when. */
export type Candidate = {
  readonly identity: string;
  /** Whether it holds the Lease by its own clock: then it may make one anew that was deleted. */
  readonly leads: boolean;
  readonly leaseDurationMs: number;
  readonly nowMs: number;
  /** For people who read the Lease. */
  readonly epochMs: number;
};

/** What a replica knows at first. */
export const UNSEEN: Sighting = { lease: undefined, holder: '', heldUntilMs: -Infinity };

/** A replica's wait is stretched by up to a fifth, so that many don't ask in step. */
const JITTER_FACTOR = 1.2;

/**
 * What a replica knows after another look. A holder has its time from the moment at which a change was first _seen_,
 * by the clock of whoever saw it, as in client-go. Any new version counts as a change: that hangs on no clock at all,
 * where the times in a Lease could be equal by a clock that was set back.
 *
 * A Lease that is gone was deleted by hand, for releasing one leaves it there. Whoever held it last doesn't know yet,
 * so it counts as held for its whole time once more.
 *
 * @param nowMs when the answer was there: never before the change that it tells of
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
 * Takes the Lease if it is free or its holder's time is up, renews it if it is ours. What is to be written names the
 * version that was seen, so the API server lets only one of those through who decide the same at the same time.
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
 * How long a replica that doesn't lead waits before it looks again: a period and up to a fifth, but not past the end
 * of the holder's time. client-go waits for up to 2.2 periods; so a release is noticed sooner, and an end at once.
 */
export function nextLookMs(
  { heldUntilMs }: Sighting,
  { nowMs, retryPeriodMs, random }: { nowMs: number; retryPeriodMs: number; random: () => number },
): number {
  const periodMs = retryPeriodMs * (1 + random() * (JITTER_FACTOR - 1));
  const leftMs = heldUntilMs - nowMs;
  return leftMs > 0 ? Math.min(periodMs, leftMs) : periodMs;
}

/** The Lease as its holder leaves it to whoever comes first: what client-go writes with ReleaseOnCancel. */
export function released(lease: Lease, epochMs: number): Lease {
  const { leaseTransitions } = lease.spec;
  return { ...lease, spec: { holderIdentity: '', leaseDurationSeconds: 1, ...bothTimes(epochMs), leaseTransitions } };
}

/**
 * How long after the last renewal a write may still run. A fifth of what is between the deadline and the end of the
 * Lease is kept free, 1 s of the default 5 s: for the way of an abort, for what the API server does with a request
 * that it has read already, and for clocks that don't run equally fast.
 */
export function writesEndMs({ leaseDurationMs, renewDeadlineMs }: LeaderTimes): number {
  return leaseDurationMs - (leaseDurationMs - renewDeadlineMs) / 5;
}

function bothTimes(epochMs: number): { acquireTime: string; renewTime: string } {
  const time = microTime(epochMs);
  return { acquireTime: time, renewTime: time };
}

/** Of no Lease there is one version. */
function isSameVersion(a: Lease | undefined, b: Lease | undefined): boolean {
  return a?.metadata.uid === b?.metadata.uid && a?.metadata.resourceVersion === b?.metadata.resourceVersion;
}
