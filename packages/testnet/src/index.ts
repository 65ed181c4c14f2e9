export { ask } from './ask.ts';
export { expose } from './expose.ts';
export { forward } from './forward.ts';
export type { Place } from './namespace.ts';
export { type Network, startNetwork } from './network.ts';
export type { NetworkNode } from './node.ts';
export { type Packet, packetIn, wireGuardMessage } from './packet.ts';
export { type PingResult, startPing } from './ping.ts';
export { recordCalls, type RecordedCalls } from './recorded-calls.ts';
