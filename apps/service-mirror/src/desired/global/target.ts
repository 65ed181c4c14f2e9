import { globalServiceLabel, globalServiceName, mirrorClusterLabel, mirroredSliceLabel } from '../../names.ts';
import { desiredGlobal, type GlobalInput } from './service.ts';
import { retainedForOthers, retainedOf } from './retained.ts';
import type { ClusterDiagnostic } from '../diagnostic.ts';
import { withoutLongPortNames } from '../port-names.ts';
import type { LocalServices, Services, Target } from '../target.ts';
import type { Stale } from './stale-endpoints.ts';

/** A cluster whose Services may be global. */
export type GlobalSource = {
  readonly cluster: string;
  readonly isLocal: boolean;
  readonly stale: Stale;
  readonly source: Services;
};

export type GlobalTargetInput = Pick<GlobalInput, 'hints' | 'zones'> & {
  readonly clusters: readonly GlobalSource[];
  readonly local: LocalServices;
  /** The namespace of all global Services. */
  readonly mirrorNamespace: string;
  readonly keepsStale: boolean;
};

/** What the global Service of one namespace and name should be now. */
export function globalTarget(
  { namespace, name }: { namespace: string; name: string },
  input: GlobalTargetInput,
): Target {
  const { clusters, local, mirrorNamespace, keepsStale, hints, zones } = input;
  const localName = globalServiceName(namespace, name);
  const left: ClusterDiagnostic[] = [];
  const participants = clusters.flatMap(({ source, ...cluster }) => {
    const found = source.service(namespace, name);
    if (found === undefined) return [];
    const { value: service, skipped } = withoutLongPortNames(found, { namespace: mirrorNamespace, name: localName });
    left.push(...skipped.map((each) => ({ cluster: cluster.cluster, ...each })));
    return service === undefined ? [] : [{ ...cluster, service, slices: source.slices(namespace, name) }];
  });
  const names = new Set(clusters.map(({ cluster }) => cluster));
  const unknown = clusters.filter(({ source }) => !source.known);
  const observed = { service: local.service(localName), slices: local.slices(localName) };
  const ours = retainedOf(observed, unknown);
  const isOver = participants.length === 0 && ours.clusters.length === 0;
  const kept = isOver ? retainedForOthers(observed, { configured: names, keepsStale }) : ours;
  const { wanted, diagnostics } = desiredGlobal({ namespace, name, participants, kept, hints, zones });
  return {
    name: localName,
    // Slices of other clusters may be another process's.
    isOurs: (labels) =>
      labels[globalServiceLabel] === 'true' ||
      (labels[mirroredSliceLabel] === 'true' && names.has(labels[mirrorClusterLabel] ?? '')),
    wanted,
    keepsStale,
    // The Go programs made slices for these.
    keepsEndpoints: false,
    diagnostics: [...left, ...diagnostics],
  };
}
