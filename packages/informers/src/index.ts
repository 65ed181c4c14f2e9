export { type DeletionGuard, type Holding } from './deletion-guard.ts';
export { Reflector, type ReflectorHooks, type ReflectorOptions } from './reflector.ts';
export { restartReasons } from './failure.ts';
export { type BudgetLimits, RemoteBudget } from './remote-budget.ts';
export { isOlder } from './resource-version.ts';
export { type Change, Store, type Stored, type View } from './store.ts';
