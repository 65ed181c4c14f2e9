export { Reflector, type ReflectorHooks, type ReflectorOptions } from './reflector.ts';
export { type RestartReason } from './failure.ts';
export { isOlder } from './resource-version.ts';
export { type Change, Store, type Stored, type View } from './store.ts';
