import { compareText } from '@kube-semaphore/naming';
import {
  headlessLabel,
  mirroredServiceLabel,
  mirrorKey,
  mirrorPrefixLabel,
  mirrorServiceName,
  mirrorSliceName,
  serviceNameLabel,
  sliceManagedByLabel,
  sliceManager,
  sourceAnnotation,
} from '../../../names.ts';
import type { DesiredObjects, DesiredSlice } from '../../../endpoints/desired/objects.ts';
import type { SourceService, SourceSlice } from '../../../endpoints/desired/source.ts';

/** A remote Service with its slices: the source of one mirror. */
export type MirrorSource = {
  readonly cluster: string;
  readonly prefix: string;
  readonly service: SourceService;
  /** Those of the Service, in any order. */
  readonly slices: readonly SourceSlice[];
};

/** The mirror of a remote Service. One remote slice becomes one local slice. */
export function desiredMirror({ cluster, prefix, service, slices }: MirrorSource): DesiredObjects {
  const { namespace, definition } = service;
  const name = mirrorServiceName(prefix, namespace, service.name);
  const labels = { [mirroredServiceLabel]: 'true', [mirrorPrefixLabel]: prefix };
  const annotationsOf = (source: string) => ({ [sourceAnnotation]: mirrorKey(cluster, namespace, source) });
  const sliceLabels = {
    ...labels,
    [serviceNameLabel]: name,
    [sliceManagedByLabel]: sliceManager,
    ...(definition.headless && { [headlessLabel]: '' }),
  };
  return {
    service: { name, labels, annotations: annotationsOf(service.name), definition },
    slices: slices
      .map((slice): DesiredSlice => ({
        name: mirrorSliceName(name, { cluster, namespace, slice: slice.name }),
        labels: sliceLabels,
        annotations: annotationsOf(slice.name),
        family: slice.family,
        ports: slice.ports,
        endpoints: slice.endpoints,
      }))
      .toSorted((a, b) => compareText(a.name, b.name)),
  };
}
