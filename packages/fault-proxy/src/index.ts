export { Dice } from './dice.ts';
export type { Fault } from './fault.ts';
export type { RequestFilter } from './filter.ts';
export { freePort } from './free-port.ts';
export { type FaultProxy, type SeenRequest, startFaultProxy } from './proxy.ts';
export { faultKinds, faultSeed, play, randomSchedule, type Step as FaultStep } from './schedule.ts';
