import type { Condition } from '@kube-semaphore/kube-objects';
import type { StringMap } from '../../endpoints/desired/objects.ts';
import type { Identity, ObservedService, ObservedSlice } from '../../endpoints/desired/observed.ts';
import type { ExportedDefinition } from './export.ts';
import { importKey, importNameLabel, parseImportKey, sourceAnnotation } from '../../names.ts';
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

/** An object, with its namespace. */
type Placed<T> = T & { readonly namespace: string };
export type LocalImport = Placed<ObservedImport>;
export type LocalDerived = Placed<ObservedDerived>;
export type LocalSlice = Placed<ObservedSlice>;

/** The key of a derived Service's import. Without the annotation, it is that of an import in its own namespace. */
export function keyOfDerived({ namespace, labels, annotations }: LocalDerived): string {
  const source = annotations[sourceAnnotation] ?? '';
  return parseImportKey(source) === undefined ? importKey(namespace, labels[importNameLabel] ?? '') : source;
}

/** The key of a slice's import. The source of a slice is in the import's namespace. */
export function keyOfSlice({ namespace, labels, annotations }: LocalSlice): string {
  const [, source = namespace] = (annotations[sourceAnnotation] ?? '').split('/');
  return importKey(source, labels[importNameLabel] ?? '');
}
