export { Controller, type Outcome, type ReconcileContext } from './controller.ts';
export { Limiter } from './limiter.ts';
