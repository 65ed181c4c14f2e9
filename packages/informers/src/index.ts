export { type DeletionGuard, type Holding } from './store/deletion-guard.ts';
export { restartReasons } from './failure.ts';
export { Reflector } from './reflector.ts';
export type { ReflectorHooks, ReflectorOptions } from './reflector-options.ts';
export { type BudgetLimits, RemoteBudget } from './store/remote-budget.ts';
export { isOlder } from './resource-version.ts';
export { type Change, Store, type Stored, type StoreOptions } from './store/store.ts';
