import type { Condition } from '@kube-semaphore/kube-objects';
import type { StringMap } from '../objects.ts';
import type { Identity, ObservedService } from '../observed.ts';
import type { ExportedDefinition } from './export.ts';
import type { ImportSpec } from './objects.ts';

/** A ServiceImport of the local cluster, ours or not. */
export type ObservedImport = Identity & {
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly spec: ImportSpec;
  /** The clusters of its status. */
  readonly clusters: readonly string[];
  readonly conditions: readonly Condition[];
  /** `Present`, `Absent`, or `''`. */
  readonly sliceObjects: string;
  /** It was deleted, and exists until its finalizers are done. */
  readonly isTerminating: boolean;
} & Pick<ObservedService, 'ownerReferences' | 'finalizers'>;

/** The Service with a ServiceImport's address. `isPlain` doesn't depend on its internal traffic policy. */
export type ObservedDerived = ObservedService &
  Pick<ExportedDefinition, 'internalTrafficPolicy'> & {
    /** In the order of its families. */
    readonly ips: readonly string[];
  };
