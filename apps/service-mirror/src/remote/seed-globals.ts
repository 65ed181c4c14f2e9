import {
  globalClustersAnnotation,
  globalServiceLabel,
  mirrorClusterLabel,
  parseServiceKey,
  sourceAnnotation,
} from '../names.ts';
import { sourceEndpoint } from '../desired/objects.ts';
import { keysOfLocalName } from '../desired/local-names.ts';
import type { ObservedService, ObservedSlice } from '../desired/observed.ts';
import type { SourceService, SourceSlice } from '../desired/source.ts';

const GO_BEGINNING = 'gl-';

/** A cluster, and the Service there. */
type ServiceOf = { readonly cluster: string; readonly namespace: string; readonly name: string };

type Observed = {
  readonly services: readonly ObservedService[];
  readonly slices: (service: string) => readonly ObservedSlice[];
};

/**
 * What a cluster must have had when the global Services were last written, as they show: its first list is measured
 * against that (deletion guard). Of what a Go program made, only the names say what of.
 */
export function seedGlobals(
  { services, slices }: Observed,
  cluster: string,
): { services: SourceService[]; slices: SourceSlice[] } {
  const parts = services.filter(
    ({ labels, annotations }) => labels[globalServiceLabel] === 'true' && clustersOf(annotations).includes(cluster),
  );
  const found = parts.flatMap((service) => {
    const source = sourceOf(service);
    return source === undefined ? [] : [{ service, source }];
  });
  return {
    // The youngest there is: it loses every conflict against what the list shows.
    services: found.map(({ service, source }) => ({
      uid: '',
      ...source,
      createdAt: Infinity,
      definition: service.definition,
      localFirst: false,
    })),
    slices: found.flatMap(({ service, source }) =>
      slices(service.name).flatMap((slice) => sourceSlice(slice, { cluster, ...source }) ?? []),
    ),
  };
}

function sourceOf({ name, annotations }: ObservedService): { namespace: string; name: string } | undefined {
  const key = annotations[sourceAnnotation] ?? keysOfLocalName(name, new Map())[0];
  const parsed = key === undefined ? undefined : parseServiceKey(key);
  return parsed?.kind === 'global' ? { namespace: parsed.namespace, name: parsed.name } : undefined;
}

function sourceSlice(
  { name: localName, labels, annotations, family, ports, endpoints }: ObservedSlice,
  of: ServiceOf,
): SourceSlice | undefined {
  if (labels[mirrorClusterLabel] !== of.cluster) return undefined;
  const source = annotations[sourceAnnotation];
  const [cluster, namespace, name] = source === undefined ? goSource(localName, of) : source.split('/');
  if (cluster !== of.cluster || namespace === undefined || name === undefined) return undefined;
  return { uid: '', namespace, name, service: of.name, family, ports, endpoints: endpoints.map(sourceEndpoint) };
}

/** The Go program called its slices `gl-<source>`, and put them to Services of their namespace. */
function goSource(localName: string, { cluster, namespace }: ServiceOf): readonly string[] {
  return localName.startsWith(GO_BEGINNING) ? [cluster, namespace, localName.slice(GO_BEGINNING.length)] : [];
}

const clustersOf = (annotations: Readonly<Record<string, string>>): readonly string[] =>
  (annotations[globalClustersAnnotation] ?? '').split(',').map((name) => name.trim());
