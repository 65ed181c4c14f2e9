import type { CalicoApi } from '@kube-semaphore/kube-objects';
import { calicoSink } from './calico-sink.ts';
import { ciliumSink } from './cilium-sink.ts';
import { networkPolicySink, type Sink } from '../companions/companion.ts';

/** By `-network-policy-sink`. */
const sinks = {
  networkpolicy: () => networkPolicySink,
  calico: calicoSink,
  cilium: () => ciliumSink,
} as const satisfies Record<string, (api: CalicoApi) => Sink>;

export type SinkName = keyof typeof sinks;

export const sinkNames = Object.keys(sinks) as readonly SinkName[];

/** The sinks that the options don't choose, whose companions a change of the option leaves. @param api undefined: no Calico */
export function otherSinksOf(chosen: SinkName, api: CalicoApi | undefined): readonly Sink[] {
  const others = sinkNames.filter((name) => name !== chosen && (name !== 'calico' || api !== undefined));
  return others.map((name) => sinks[name](api!));
}

/** The sink that the options choose; with `calico` they name its API. */
export function sinkOf(options: { networkPolicySink: SinkName; calicoApi: CalicoApi | 'auto' }): Sink {
  return sinks[options.networkPolicySink](options.calicoApi as CalicoApi);
}
