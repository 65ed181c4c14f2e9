export { memoize } from './memoize.ts';
