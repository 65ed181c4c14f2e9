import { ciliumSink } from './cilium-sink.ts';
import { networkPolicySink, type Sink } from './companion.ts';

/** By `-network-policy-sink`. */
export const sinks = { networkpolicy: networkPolicySink, cilium: ciliumSink } as const satisfies Record<string, Sink>;

export type SinkName = keyof typeof sinks;
