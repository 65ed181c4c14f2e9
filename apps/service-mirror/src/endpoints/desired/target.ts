import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { ClusterDiagnostic } from './diagnostic.ts';
import type { DesiredObjects } from './objects.ts';
import type { ObservedService, ObservedSlice } from './observed.ts';
import type { SourceService, SourceSlice } from './source.ts';

/** What is known of one Service of a cluster. */
export type ServiceView = {
  /** Whether the lists that it needs are complete and believed. If not, nothing may be decided. */
  readonly known: boolean;
  readonly service: SourceService | undefined;
  readonly slices: readonly SourceSlice[];
  /** What is skipped of its slices, unless it is reported elsewhere. */
  readonly skipped: readonly Diagnostic[];
};

/** What is in the mirror namespace. */
export type LocalServices = {
  service(name: string): ObservedService | undefined;
  slices(service: string): readonly ObservedSlice[];
};

/** What a key wants now. */
export type Target = {
  /** Of the local Service. */
  readonly name: string;
  /** Whether the key may change a Service of this name, or its slices and Endpoints, if they have these labels. */
  readonly isOurs: (labels: Readonly<Record<string, string>>) => boolean;
  /** The desired objects. `unknown`: a source is unknown, so everything stays as it is. */
  readonly wanted: 'unknown' | 'nothing' | DesiredObjects;
  /** No change is made: its source is gone, and wasn't seen since the start, and the config says to retain such objects. */
  readonly retainsUnseen: boolean;
  /** A Go program's Endpoints stay until a slice of ours has a ready endpoint, as the source's list may be incomplete. */
  readonly retainsEndpoints: boolean;
  readonly diagnostics: readonly ClusterDiagnostic[];
};
