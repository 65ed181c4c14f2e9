import { globalClustersAnnotation, globalServiceLabel, mirrorClusterLabel, parseServiceKey, sourceAnnotation } from '@kube-semaphore/naming';
import { sourceEndpoint } from './desired.ts';
import { keysOfLocalName } from './local-names.ts';
import type { ObservedService, ObservedSlice } from './observed.ts';
import type { SourceService, SourceSlice } from './source.ts';

type Observed = { readonly services: readonly ObservedService[]; readonly slices: (service: string) => readonly ObservedSlice[] };

/**
 * What a cluster must have had when the global Services were last written, as they show: its first list is measured
 * against that (deletion guard). Slices that a Go program made don't say what of, so those aren't remembered.
 */
export function rememberedGlobals({ services, slices }: Observed, cluster: string): { services: SourceService[]; slices: SourceSlice[] } {
  const parts = services.filter(({ labels, annotations }) => labels[globalServiceLabel] === 'true' && clustersOf(annotations).includes(cluster));
  const found = parts.flatMap((service) => {
    const source = sourceOf(service);
    return source === undefined ? [] : [{ service, source }];
  });
  return {
    // The youngest there is: it loses every conflict against what the list shows.
    services: found.map(({ service, source }) => ({ uid: '', ...source, createdAt: Infinity, definition: service.definition, localFirst: false })),
    slices: found.flatMap(({ service, source }) =>
      slices(service.name).flatMap((slice) => sourceSlice(slice, cluster, source.name) ?? []),
    ),
  };
}

function sourceOf({ name, annotations }: ObservedService): { namespace: string; name: string } | undefined {
  const key = annotations[sourceAnnotation] ?? keysOfLocalName(name, new Map())[0];
  const parsed = key === undefined ? undefined : parseServiceKey(key);
  return parsed?.kind === 'global' ? { namespace: parsed.namespace, name: parsed.name } : undefined;
}

function sourceSlice({ labels, annotations, family, ports, endpoints }: ObservedSlice, cluster: string, service: string): SourceSlice | undefined {
  const [of, namespace, name] = (annotations[sourceAnnotation] ?? '').split('/');
  if (labels[mirrorClusterLabel] !== cluster || of !== cluster || namespace === undefined || name === undefined) return undefined;
  return { uid: '', namespace, name, service, family, ports, endpoints: endpoints.map(sourceEndpoint) };
}

const clustersOf = (annotations: Readonly<Record<string, string>>): readonly string[] => (annotations[globalClustersAnnotation] ?? '').split(',').map((name) => name.trim());
