export { LeaderElector, type LeaderElectorOptions, type LeaderHooks, leaderIdentity } from './elector.ts';
export { type Leadership, type LeadershipRun, SoleLeader } from './leadership.ts';
export { leaseLock, type LeaseLock, previousLeaseLock } from './lock.ts';
export type { LeaderTimes } from './state.ts';
export { NotLeadingError, type Permit, type Write } from './writes.ts';
