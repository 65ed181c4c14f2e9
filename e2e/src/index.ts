import { fileURLToPath } from 'node:url';

export { Calls, type Tally } from './calls/calls.ts';
export { DocumentedPolicies } from './documented-policies.ts';
export { missing } from './missing.ts';
export { Scenarios } from './scenarios.ts';
export { System, WEB_URL } from './system.ts';
export { inspect } from './calls/wire.ts';

/** The programs that answer and call, each a file for Node.js. */
export const programs = {
  web: fileURLToPath(new URL('./calls/web.ts', import.meta.url)),
  caller: fileURLToPath(new URL('./calls/caller.ts', import.meta.url)),
};
