export { eventually, isDefined, TIMEOUT_MS, type WaitOptions } from './eventually.ts';
