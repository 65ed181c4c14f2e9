import {
  globalClustersAnnotation,
  globalServiceLabel,
  mirrorClusterLabel,
  mirroredServiceLabel,
  mirrorPrefixLabel,
  mirrorServiceName,
  parseServiceKey,
  type ServiceKey,
  serviceNameLabel,
  sourceAnnotation,
} from '../../names.ts';
import { namesIn } from '../../endpoints/desired/merged/retained.ts';
import { keysOfLocalName, sourcesOf } from '../desired/keys-of-local-name.ts';
import type { ObservedService, ObservedSlice } from '../../endpoints/desired/observed.ts';
import { type Endpoint, type SourceService, type SourceSlice, YOUNGEST } from '../../endpoints/desired/source.ts';
import { withoutRole } from '../../endpoints/desired/routing/in-role.ts';
import type { Seed } from './services.ts';

/** What is in the mirror namespace. */
type Observed = {
  readonly services: readonly ObservedService[];
  readonly slices: (service: string) => readonly ObservedSlice[];
};

/** A Service or slice of a cluster. */
type Source = { readonly namespace: string; readonly name: string };

/** A Go program's slices are called `gl-<source>`, and belong to a Service of their namespace. */
const GO_PREFIX = 'gl-';

/**
 * What a remote had when its mirrors were last written; the deletion guard measures its first list against it. Mirrors
 * of a Go program have no annotation, so only their names say what they were made from.
 */
export function seedMirrors(
  { services, slices }: Observed,
  { cluster, prefix }: { cluster: string; prefix: string },
): Seed {
  const mirrors = services.filter(
    ({ labels }) => labels[mirroredServiceLabel] === 'true' && labels[mirrorPrefixLabel] === prefix,
  );
  return {
    services: mirrors.flatMap((service) => {
      const [key = ''] = sourcesOf(service, new Map([[cluster, prefix]]));
      const source = parseServiceKey(key);
      return source?.kind === 'mirror' && source.cluster === cluster ? [seedService(service, source)] : [];
    }),
    slices: mirrors.flatMap((service) =>
      slices(service.name).flatMap((slice) => {
        const source = sourceIn(slice, cluster);
        const name = source && mirroredName(slice.labels[serviceNameLabel] ?? service.name, prefix, source.namespace);
        return source === undefined || name === undefined ? [] : [seedSlice(slice, source, name)];
      }),
    ),
  };
}

/**
 * What a cluster had when the global Services were last written; the deletion guard measures its first list against it.
 * Slices of a Go program have no annotation, so only their names say what they were made from.
 */
export function seedGlobals({ services, slices }: Observed, cluster: string): Seed {
  const globals = services.flatMap((service) => {
    const isPart =
      service.labels[globalServiceLabel] === 'true' && namesIn(service, globalClustersAnnotation).includes(cluster);
    const source = isPart ? globalSource(service) : undefined;
    return source === undefined ? [] : [{ service, source }];
  });
  return {
    services: globals.map(({ service, source }) => seedService(service, source)),
    slices: globals.flatMap(({ service, source }) =>
      slices(service.name)
        .filter(({ labels }) => labels[mirrorClusterLabel] === cluster)
        .flatMap((slice) => {
          const from =
            slice.annotations[sourceAnnotation] === undefined ? goSource(slice, source) : sourceIn(slice, cluster);
          return from === undefined ? [] : [seedSlice(slice, from, source.name)];
        }),
    ),
  };
}

/** As the youngest, it loses every conflict with what the list shows. */
const seedService = ({ definition }: ObservedService, { namespace, name }: Source): SourceService => ({
  uid: '',
  namespace,
  name,
  createdAt: YOUNGEST,
  definition,
  hasSelector: false,
  localFirst: false,
});

/** @param service the source Service */
function seedSlice(observed: ObservedSlice, { namespace, name }: Source, service: string): SourceSlice {
  const { family, ports, endpoints } = withoutRole(observed);
  return { uid: '', namespace, name, service, family, ports, endpoints: withoutHints(endpoints) };
}

/** Hints are ours, and not the source's. Slices without hints, as those of mirrors, share their endpoints with the seed. */
const withoutHints = (endpoints: readonly Endpoint[]): readonly Endpoint[] =>
  endpoints.every(({ zones }) => zones === undefined)
    ? endpoints
    : endpoints.map((endpoint) => ({ ...endpoint, zones: undefined }));

/** The slice that a local one names as its source; undefined if it isn't one of this cluster. */
function sourceIn({ annotations }: ObservedSlice, ofCluster: string): Source | undefined {
  const [cluster, namespace, name] = (annotations[sourceAnnotation] ?? '').split('/');
  return cluster === ofCluster && namespace !== undefined && name !== undefined ? { namespace, name } : undefined;
}

/** The name of the Service that a mirror was made from; undefined if the mirror's name has another prefix or namespace. */
function mirroredName(localName: string, prefix: string, namespace: string): string | undefined {
  const start = mirrorServiceName(prefix, namespace, '');
  return localName.startsWith(start) ? localName.slice(start.length) : undefined;
}

function globalSource(service: ObservedService): Extract<ServiceKey, { kind: 'global' }> | undefined {
  const key = service.annotations[sourceAnnotation] ?? keysOfLocalName(service.name, new Map())[0] ?? '';
  const source = parseServiceKey(key);
  return source?.kind === 'global' ? source : undefined;
}

const goSource = ({ name }: ObservedSlice, { namespace }: Source): Source | undefined =>
  name.startsWith(GO_PREFIX) ? { namespace, name: name.slice(GO_PREFIX.length) } : undefined;
