import {
  headlessLabel,
  mirrorClusterLabel,
  mirroredSliceLabel,
  mirrorKey,
  mirrorSliceName,
  serviceNameLabel,
  sliceManagedByLabel,
  sliceManager,
  sourceAnnotation,
} from '../../names.ts';
import type { DesiredEndpoint, DesiredSlice } from '../objects.ts';
import type { PortNames } from './merge-ports.ts';
import type { ClusterDiagnostic } from '../diagnostic.ts';
import type { Definition, Endpoint, SlicePort, SourceSlice } from '../source.ts';

/** What one cluster brings into a global Service. */
export type SliceSources = {
  readonly cluster: string;
  readonly isLocal: boolean;
  /** Those of its Service, in any order. */
  readonly slices: readonly SourceSlice[];
};

/** The global Service that slices are to fit into. */
export type GlobalFrame = {
  readonly service: string;
  readonly definition: Definition;
  /** What it calls the ports of the cluster. */
  readonly portNames: PortNames;
  /** Where the cluster's endpoints are hinted to; undefined: they have no hints. */
  readonly zones: readonly string[] | undefined;
};

type Brought = { readonly slices: readonly DesiredSlice[]; readonly diagnostics: readonly ClusterDiagnostic[] };

/** The slices of a global Service that are one cluster's: one for each slice that has a port of the Service. */
export function globalSlices({ cluster, isLocal, slices }: SliceSources, frame: GlobalFrame): Brought {
  const { service, definition, zones } = frame;
  const labels = {
    [mirroredSliceLabel]: 'true',
    [mirrorClusterLabel]: cluster,
    [serviceNameLabel]: service,
    [sliceManagedByLabel]: sliceManager,
    ...(definition.headless && { [headlessLabel]: '' }),
  };
  const desired: DesiredSlice[] = [];
  const diagnostics: ClusterDiagnostic[] = [];
  for (const { namespace, name, family, ports: sources, endpoints } of slices) {
    const ports = portsIn(sources, frame);
    if (ports.length === 0 && sources.length > 0) {
      const detail = `its slice ${namespace}/${name} has no port of the Service, and is left out`;
      diagnostics.push({ cluster, kind: 'problem', reason: 'slice-portless', detail });
      continue;
    }
    desired.push({
      name: mirrorSliceName(service, { cluster, namespace, slice: name }),
      labels,
      annotations: { [sourceAnnotation]: mirrorKey(cluster, namespace, name) },
      family,
      ports,
      endpoints: endpoints.map((endpoint): DesiredEndpoint => ({
        ...(isLocal ? endpoint : placeless(endpoint)),
        zones,
      })),
    });
  }
  return { slices: desired, diagnostics: diagnostics.toSorted((a, b) => (a.detail < b.detail ? -1 : 1)) };
}

/** A slice with other hints. */
export function withHints(slice: DesiredSlice, zones: readonly string[] | undefined): DesiredSlice {
  return { ...slice, endpoints: slice.endpoints.map((endpoint) => ({ ...endpoint, zones })) };
}

/**
 * The ports of a slice as the global Service calls them. One that isn't its own Service's, as while that changes, keeps its
 * name, unless it would be taken for one of the global Service.
 */
function portsIn(ports: readonly SlicePort[], { definition, portNames }: GlobalFrame): readonly SlicePort[] {
  const ownNames = new Set(definition.ports.map(({ name }) => name));
  return ports.flatMap((port) => {
    const isForeign = !portNames.has(port.name) && !ownNames.has(port.name);
    const name = isForeign ? port.name : portNames.get(port.name);
    return name === undefined ? [] : [{ ...port, name }];
  });
}

/** Nodes and zones of other clusters mean nothing here. */
const placeless = (endpoint: Endpoint): Endpoint => ({ ...endpoint, nodeName: undefined, zone: undefined });
