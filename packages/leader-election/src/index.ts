export { LeaderElector, leaderIdentity } from './elector.ts';
export { type Leadership, SoleLeader } from './leadership.ts';
export { leaseLock, type LeaseLock, previousLeaseLock } from './lock.ts';
export type { LeaderTimes } from './state.ts';
export { NotLeadingError, type Write } from './writes.ts';
