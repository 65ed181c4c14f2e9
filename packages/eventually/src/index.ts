export { eventually } from './eventually.ts';
export { waitFor, type WaitOptions } from './wait-for.ts';
