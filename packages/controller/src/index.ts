export { Controller, type Outcome, type QueueObserver, type ReconcileContext } from './controller.ts';
export { LeaderElector, type LeaderElectorOptions, type LeaderHooks, leaderIdentity } from './leader-elector.ts';
export { leaseLock, type LeaseLock, previousLeaseLock } from './leader-lock.ts';
export type { LeaderTimes } from './leader-state.ts';
export { NotLeadingError, type Permit, type Write } from './leader-writes.ts';
export { type Leadership, type LeadershipRun, SoleLeader } from './leadership.ts';
export { Limiter } from './limiter.ts';
export { TokenBucket } from './token-bucket.ts';
