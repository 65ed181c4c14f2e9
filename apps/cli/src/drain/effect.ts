import type { EndpointSlice } from '@kube-semaphore/kube-objects';
import {
  headlessLabel,
  importClusterLabel,
  importNameLabel,
  mirrorClusterLabel,
  separator,
  serviceNameLabel,
  sourceAnnotation,
  standbyAnnotation,
} from '@kube-semaphore/service-mirror/names';

/** What draining a cluster does to the Services that other clusters share with it, as `global shop/web` or `import shop/web`. */
export type Effect = {
  /** Its endpoints are in use there, and others take over. */
  readonly moving: readonly string[];
  /** Those of `moving` that are headless: DNS knows no standby, so the Pods of the cluster lose their names. */
  readonly headless: readonly string[];
  /** No other cluster has an endpoint that can be used: its endpoints go on answering. */
  readonly staying: readonly string[];
};

/** Which endpoints of a cluster a Service has. */
type Part = { isInUse: boolean; isUsable: boolean };

/**
 * What draining a cluster does, or still has to do, by the slices of global Services and ServiceImports.
 *
 * @param drained the clusters that are drained already: others take over from them, not the other way round
 */
export function effectOf(slices: readonly EndpointSlice[], cluster: string, drained: ReadonlySet<string>): Effect {
  const services = new Map<string, Map<string, Part>>();
  const headless = new Set<string>();
  for (const slice of slices) {
    const from = clusterOf(slice);
    if (from === '') continue;
    const service = serviceOf(slice);
    const parts = services.get(service) ?? new Map<string, Part>();
    services.set(service, parts);
    if (slice.metadata.labels[headlessLabel] !== undefined) headless.add(service);
    const part = parts.get(from) ?? { isInUse: false, isUsable: false };
    parts.set(from, part);
    const isStandby = slice.metadata.annotations[standbyAnnotation] === 'true';
    for (const { conditions } of slice.endpoints) {
      const isReady = conditions.ready !== false;
      part.isInUse ||= isReady;
      part.isUsable ||= isReady || (isStandby && conditions.serving !== false);
    }
  }
  const own = [...services].filter(([, parts]) => parts.get(cluster)?.isUsable === true);
  const hasOther = (parts: ReadonlyMap<string, Part>): boolean =>
    [...parts].some(([name, { isUsable }]) => name !== cluster && !drained.has(name) && isUsable);
  const named = (found: typeof own): readonly string[] => found.map(([service]) => service).toSorted();
  const moving = named(own.filter(([, parts]) => parts.get(cluster)!.isInUse && hasOther(parts)));
  return {
    moving,
    headless: moving.filter((service) => headless.has(service)),
    staying: named(own.filter(([, parts]) => !hasOther(parts))),
  };
}

const clusterOf = ({ metadata: { labels } }: EndpointSlice): string =>
  labels[mirrorClusterLabel] ?? labels[importClusterLabel] ?? '';

/** The namespace is that of the source; a Go program's slice doesn't name it. */
function serviceOf({ metadata: { labels, annotations, namespace } }: EndpointSlice): string {
  const [, source = namespace] = (annotations[sourceAnnotation] ?? '').split('/');
  const imported = labels[importNameLabel];
  if (imported !== undefined) return `import ${source}/${imported}`;
  const local = labels[serviceNameLabel] ?? '';
  const at = local.indexOf(`-${separator}-`);
  return `global ${at === -1 ? local : `${source}/${local.slice(at + separator.length + 2)}`}`;
}
