import { compareText } from '@kube-semaphore/naming';
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
} from '../../../names.ts';
import { localSlices } from '../local-slices.ts';
import type { DesiredSlice } from '../objects.ts';
import type { PortNames } from './merge-ports.ts';
import type { ClusterDiagnostic } from '../diagnostic.ts';
import type { Definition, Endpoint, SlicePort, SourceSlice } from '../source.ts';

/** One cluster's slices for a global Service. */
export type SliceSources = {
  readonly cluster: string;
  readonly isLocal: boolean;
  readonly slices: readonly SourceSlice[];
};

/** The global Service that slices are for. */
export type GlobalFrame = {
  readonly service: string;
  readonly definition: Definition;
  /** Its names for the ports of the cluster. */
  readonly portNames: PortNames;
  /** For hints of the cluster's endpoints; undefined for no hints. */
  readonly zones: readonly string[] | undefined;
};

type MergedSlices = { readonly slices: readonly DesiredSlice[]; readonly diagnostics: readonly ClusterDiagnostic[] };

/** One cluster's slices of a global Service: one for each source slice that has a port of the Service. */
export function globalSlices(sources: SliceSources, frame: GlobalFrame): MergedSlices {
  const { service, definition, zones } = frame;
  const labels = {
    [mirroredSliceLabel]: 'true',
    [mirrorClusterLabel]: sources.cluster,
    [serviceNameLabel]: service,
    [sliceManagedByLabel]: sliceManager,
    ...(definition.headless && { [headlessLabel]: '' }),
  };
  const endpointOf = (endpoint: Endpoint): Endpoint =>
    withZones(sources.isLocal ? endpoint : placeless(endpoint), zones);
  return mergedSlices(sources, { ...frame, name: service, labels, endpointOf });
}

/** The Service that slices of several clusters are for, and what becomes of each endpoint. */
export type MergedFrame = Pick<GlobalFrame, 'portNames'> & {
  /** What the names of its slices begin with. */
  readonly name: string;
  readonly definition: Pick<Definition, 'ports' | 'headless'>;
  readonly labels: DesiredSlice['labels'];
  readonly endpointOf: (endpoint: Endpoint) => Endpoint;
};

/** One cluster's slices of a merged Service: one for each source slice that has a port of the Service. */
export function mergedSlices({ cluster, slices }: Omit<SliceSources, 'isLocal'>, frame: MergedFrame): MergedSlices {
  const { name: service, definition, portNames, labels, endpointOf } = frame;
  const names = new Set(definition.ports.map((port) => port.name));
  const isTaken = ({ name }: SlicePort): boolean => !portNames.has(name) && names.has(name);
  // A port that its own Service lacks, maybe for a moment, keeps its name.
  const nameOf = ({ name }: SlicePort): string | undefined => (portNames.has(name) ? portNames.get(name) : name);
  const desired: DesiredSlice[] = [];
  const local = localSlices(slices, definition);
  const diagnostics = local.skipped.map((each): ClusterDiagnostic => ({ cluster, ...each }));
  for (const { namespace, name, family, ports: sources, endpoints } of local.slices) {
    const free = sources.filter((port) => !isTaken(port));
    const ports = free.flatMap((port) => {
      const localName = nameOf(port);
      return localName === undefined ? [] : [{ ...port, name: localName }];
    });
    if (ports.length === 0 && sources.length > 0) {
      const detail = `its slice ${namespace}/${name} has no port of the Service`;
      diagnostics.push({ cluster, kind: 'problem', reason: 'slice-portless', detail });
      continue;
    }
    const taken = sources.length - free.length;
    if (taken > 0) {
      const which = `${taken} of the ${sources.length} ports of its slice ${namespace}/${name}`;
      const detail = `${which} are skipped: its Service lacks the name, and another cluster's has it`;
      diagnostics.push({ cluster, kind: 'problem', reason: 'port-conflict', detail });
    }
    desired.push({
      name: mirrorSliceName(service, { cluster, namespace, slice: name }),
      labels,
      annotations: { [sourceAnnotation]: mirrorKey(cluster, namespace, name) },
      family,
      ports,
      endpoints: endpoints.map(endpointOf),
    });
  }
  return { slices: desired, diagnostics: diagnostics.toSorted((a, b) => compareText(a.detail, b.detail)) };
}

/** The slice, with these hints. */
export function withHints(slice: DesiredSlice, zones: readonly string[] | undefined): DesiredSlice {
  return { ...slice, endpoints: slice.endpoints.map((endpoint) => withZones(endpoint, zones)) };
}

/** Without a difference, it is the same endpoint, so memory has it once. */
const withZones = (endpoint: Endpoint, zones: Endpoint['zones']): Endpoint =>
  zones === undefined && endpoint.zones === undefined ? endpoint : { ...endpoint, zones };

/** Without node and zone: those of other clusters mean nothing in the local one. */
const placeless = (endpoint: Endpoint): Endpoint =>
  endpoint.nodeName === undefined && endpoint.zone === undefined
    ? endpoint
    : { ...endpoint, nodeName: undefined, zone: undefined };
