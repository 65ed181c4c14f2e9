export { backoffMs } from './backoff.ts';
export { Controller, type Outcome, type QueueObserver, type ReconcileContext } from './controller.ts';
export { Limiter } from './limiter.ts';
export { TokenBucket } from './token-bucket.ts';
export type { AddOptions } from './workqueue.ts';
