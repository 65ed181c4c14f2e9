import {
  mirroredServiceLabel,
  mirrorPrefixLabel,
  mirrorServiceName,
  parseServiceKey,
  serviceNameLabel,
  sourceAnnotation,
} from '../names.ts';
import { sourceEndpoint } from '../desired/objects.ts';
import { sourcesOf } from '../desired/local-names.ts';
import type { ObservedService, ObservedSlice } from '../desired/observed.ts';
import type { SourceService, SourceSlice } from '../desired/source.ts';

type Observed = {
  readonly services: readonly ObservedService[];
  readonly slices: (service: string) => readonly ObservedSlice[];
};

/**
 * What a remote must have had when its mirrors were last written, as they show: its first list is measured against that
 * (deletion guard). A mirror that a Go program made has no annotation, and only its name says what of.
 */
export function seedMirrors(
  { services, slices }: Observed,
  { cluster, prefix }: { cluster: string; prefix: string },
): { services: SourceService[]; slices: SourceSlice[] } {
  const mine = services.filter(
    ({ labels }) => labels[mirroredServiceLabel] === 'true' && labels[mirrorPrefixLabel] === prefix,
  );
  return {
    services: mine.flatMap((service) => sourceService(service, { cluster, prefix }) ?? []),
    slices: mine.flatMap(({ name }) =>
      slices(name).flatMap(
        (slice) => sourceSlice(slice, { cluster, service: sourceName(name, slice, { cluster, prefix }) }) ?? [],
      ),
    ),
  };
}

function sourceService(observed: ObservedService, of: { cluster: string; prefix: string }): SourceService | undefined {
  const [key] = sourcesOf(observed, new Map([[of.cluster, of.prefix]]));
  const source = key === undefined ? undefined : parseServiceKey(key);
  if (source?.kind !== 'mirror' || source.cluster !== of.cluster) return undefined;
  const { namespace, name } = source;
  // The youngest there is: it loses every conflict against what the list shows.
  return { uid: '', namespace, name, createdAt: Infinity, definition: observed.definition, localFirst: false };
}

function sourceSlice(
  observed: ObservedSlice,
  { cluster, service }: { cluster: string; service: string | undefined },
): SourceSlice | undefined {
  const [of, namespace, name] = (observed.annotations[sourceAnnotation] ?? '').split('/');
  if (of !== cluster || namespace === undefined || name === undefined || service === undefined) return undefined;
  const endpoints = observed.endpoints.map(sourceEndpoint);
  return { uid: '', namespace, name, service, family: observed.family, ports: observed.ports, endpoints };
}

/** The source Service of a local one, for a slice of it. */
function sourceName(
  localName: string,
  { annotations, labels }: ObservedSlice,
  of: { cluster: string; prefix: string },
): string | undefined {
  const [, namespace = ''] = (annotations[sourceAnnotation] ?? '').split('/');
  const beginning = mirrorServiceName(of.prefix, namespace, '');
  const name = labels[serviceNameLabel] ?? localName;
  return name.startsWith(beginning) ? name.slice(beginning.length) : undefined;
}
