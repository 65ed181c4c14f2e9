import {
  headlessLabel,
  importClusterLabel,
  importNameLabel,
  serviceNameLabel,
  sliceManagedByLabel,
  sliceManager,
} from '../../names.ts';
import type { ClusterDiagnostic } from '../../endpoints/desired/diagnostic.ts';
import type { PortNames } from '../../endpoints/desired/merged/merge-ports.ts';
import { mergedSlices, type SliceSources } from '../../endpoints/desired/merged/slices.ts';
import type { DesiredSlice } from '../../endpoints/desired/objects.ts';
import type { Endpoint } from '../../endpoints/desired/source.ts';
import type { ExportedDefinition } from './export.ts';

/** The ServiceImport that slices are for. */
export type ImportFrame = {
  readonly name: string;
  /** The Service with the import's address; undefined for a headless import. */
  readonly derived: string | undefined;
  readonly definition: ExportedDefinition;
  /** Its names for the ports of the cluster. */
  readonly portNames: PortNames;
};

type ImportSlices = { readonly slices: readonly DesiredSlice[]; readonly diagnostics: readonly ClusterDiagnostic[] };

/**
 * One cluster's slices of a ServiceImport. The slices of a headless one have no `kubernetes.io/service-name`: CoreDNS and
 * kube-proxy would take them for slices of the local Service.
 */
export function importSlices(
  sources: Omit<SliceSources, 'isLocal'>,
  { name, derived, definition, portNames }: ImportFrame,
): ImportSlices {
  const labels = {
    [importNameLabel]: name,
    [importClusterLabel]: sources.cluster,
    [sliceManagedByLabel]: sliceManager,
    ...(derived === undefined ? { [headlessLabel]: '' } : { [serviceNameLabel]: derived }),
  };
  const prefersZone = derived !== undefined && isZonal(definition.trafficDistribution);
  // Without a difference, it is the source's own endpoint, so memory has it once.
  const endpointOf = (endpoint: Endpoint): Endpoint => {
    const zones = prefersZone && endpoint.zone !== undefined ? [endpoint.zone] : undefined;
    return zones === endpoint.zones ? endpoint : { ...endpoint, zones };
  };
  return mergedSlices(sources, { name, definition, portNames, labels, endpointOf });
}

/** Whether a slice is of a headless import. */
export const isOfHeadless = ({ labels }: Pick<DesiredSlice, 'labels'>): boolean => labels[headlessLabel] !== undefined;

/** Whether clients prefer endpoints of their own zone, or of their own node, which is in it. */
const isZonal = (distribution: string | undefined): boolean =>
  distribution !== undefined && ['PreferClose', 'PreferSameZone', 'PreferSameNode'].includes(distribution);
