export type { Tally } from './calls.ts';
export { DocumentedPolicies } from './documented-policies.ts';
export { missing } from './missing.ts';
export { Scenarios } from './scenarios.ts';
export { System, WEB_URL } from './system.ts';
export { inspect } from './wire.ts';
