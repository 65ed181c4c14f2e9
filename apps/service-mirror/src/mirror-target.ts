import { mirroredServiceLabel, mirrorPrefixLabel, mirrorServiceName } from '@kube-semaphore/naming';
import { desiredMirror } from './desired-mirror.ts';
import type { Target } from './service-reconciler.ts';
import type { ServiceSource } from './service-source.ts';

export type MirrorTargetInput = {
  readonly cluster: string;
  readonly prefix: string;
  /** Those of the cluster that are to be mirrored. */
  readonly source: Pick<ServiceSource, 'synced' | 'service' | 'slices'>;
  /** Prefixes of all remotes: what one of them left to another, by age, is that one's. */
  readonly prefixes: readonly string[];
  readonly keepsStale: boolean;
  readonly keepsEndpoints: boolean;
};

/** What the mirror of a remote Service should be now. */
export function mirrorTarget({ namespace, name }: { namespace: string; name: string }, { cluster, prefix, source, prefixes, ...kept }: MirrorTargetInput): Target {
  const service = source.service(namespace, name);
  return {
    name: mirrorServiceName(prefix, namespace, name),
    isOurs: (labels) => labels[mirroredServiceLabel] === 'true' && prefixes.includes(labels[mirrorPrefixLabel] ?? ''),
    wanted: !source.synced ? 'unknown' : service === undefined ? 'nothing' : desiredMirror({ cluster, prefix, service, slices: source.slices(namespace, name) }),
    keepsStale: kept.keepsStale,
    keepsEndpoints: kept.keepsEndpoints,
    notices: [],
  };
}
