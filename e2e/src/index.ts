export { Calls, type Tally } from './calls/calls.ts';
export { callPrograms } from './calls/programs.ts';
export { DocumentedPolicies } from './documented-policies.ts';
export { missing } from './missing.ts';
export { Scenarios } from './scenarios.ts';
export { System, WEB_URL } from './system.ts';
export { inspect } from './calls/wire.ts';
