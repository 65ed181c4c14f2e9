import type { CalicoApi } from '@kube-semaphore/kube-objects';
import { calicoSink } from './calico-sink.ts';
import { ciliumSink } from './cilium-sink.ts';
import { networkPolicySink, type Sink } from './companion.ts';

/** By `-network-policy-sink`. */
const sinks = {
  networkpolicy: () => networkPolicySink,
  calico: calicoSink,
  cilium: () => ciliumSink,
} as const satisfies Record<string, (api: CalicoApi) => Sink>;

export type SinkName = keyof typeof sinks;

export const sinkNames = Object.keys(sinks) as readonly SinkName[];

/** @param options those of a `calico` sink name the API of Calico */
export const sinkOf = ({
  networkPolicySink: name,
  calicoApi,
}: {
  readonly networkPolicySink: SinkName;
  readonly calicoApi: CalicoApi | 'auto';
}): Sink => sinks[name](calicoApi as CalicoApi);
