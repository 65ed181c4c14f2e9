import type { DesiredService, DesiredSlice, StringMap } from '../../endpoints/desired/objects.ts';
import type { ServicePort } from '../../endpoints/desired/source.ts';
import type { DesiredCondition } from './conditions.ts';
import type { ExportedDefinition } from './export.ts';

/** A port of a ServiceImport. Where it is served is in the slices. */
type ImportPort = Omit<ServicePort, 'targetPort'>;

/** `spec` of a ServiceImport. */
export type ImportSpec = Omit<ExportedDefinition, 'headless' | 'ports'> & {
  readonly type: 'ClusterSetIP' | 'Headless';
  readonly ports: readonly ImportPort[];
  /** In the order of `families`. */
  readonly ips: readonly string[];
};

/** A ServiceImport as it should be; its labels and annotations as in `DesiredService`. */
export type DesiredImport = {
  readonly name: string;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly spec: ImportSpec;
};

export type DesiredImportStatus = {
  /** Sorted. */
  readonly clusters: readonly string[];
  readonly conditions: readonly DesiredCondition[];
  readonly sliceObjects: 'Present' | 'Absent';
};

/**
 * The Service with a ServiceImport's address. It has no traffic distribution: that tells Kubernetes' controller which hints to
 * write, and we write the slices. An API server that lacks the field, or a value of it, would drop or refuse it.
 */
export type DerivedService = DesiredService & Pick<ExportedDefinition, 'internalTrafficPolicy'>;

/** The local objects of a ServiceImport. */
export type ImportObjects = {
  /** Without IPs, which the derived Service has (`withAddresses`). */
  readonly serviceImport: DesiredImport;
  readonly status: DesiredImportStatus;
  /** Undefined for a headless import, and if the local cluster lacks all of its families. */
  readonly service: DerivedService | undefined;
  /** Sorted by name. */
  readonly slices: readonly DesiredSlice[];
};
