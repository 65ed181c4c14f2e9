import type { ClusterDiagnostic } from './diagnostic.ts';
import type { DesiredObjects } from './objects.ts';
import type { ObservedService, ObservedSlice } from './observed.ts';
import type { SourceService, SourceSlice } from './source.ts';

/** The Services of a cluster, as far as they are known. */
export type Services = {
  /** Whether a first list is complete and believed. */
  readonly known: boolean;
  service(namespace: string, name: string): SourceService | undefined;
  slices(namespace: string, name: string): readonly SourceSlice[];
};

/** What is in the mirror namespace, by the name of a Service. */
export type LocalServices = {
  service(name: string): ObservedService | undefined;
  slices(service: string): readonly ObservedSlice[];
};

/** What a key stands for now. */
export type Target = {
  /** Of the local Service. */
  readonly name: string;
  /** Whether a Service of this name, a slice or Endpoints of it, with these labels is one that this key may change. */
  readonly isOurs: (labels: Readonly<Record<string, string>>) => boolean;
  /** What should be there. `unknown`: a source isn't known, and what is there stays as it is. */
  readonly wanted: 'unknown' | 'nothing' | DesiredObjects;
  /** Nothing may be deleted: it was left behind by an earlier process, and we were told to leave such things. */
  readonly keepsStale: boolean;
  /** Endpoints that a Go program left stay while no slice of ours has a ready endpoint: the source's list is doubted yet. */
  readonly keepsEndpoints: boolean;
  /** What is worth knowing about it, by cluster. */
  readonly diagnostics: readonly ClusterDiagnostic[];
};
