export { eventually, isDefined, type WaitOptions } from './eventually.ts';
export { scaled } from './slowdown.ts';
