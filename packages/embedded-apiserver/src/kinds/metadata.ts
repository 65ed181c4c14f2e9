import { forbiddenValue, invalidValue, tooLong } from '../http/causes.ts';
import type { Cause } from '../http/status.ts';
import { isLabelValue, isQualifiedName } from './syntax.ts';
import { finalizersOf } from '../storage/stored-object.ts';
import type { KubeObject } from '../test-cluster.ts';

const MAX_ANNOTATION_BYTES = 256 * 1024;

/** The rules that the metadata of our objects could break, except their names. The names of finalizers aren't checked. */
export function* metadataRules({ metadata }: KubeObject, previous?: KubeObject): Generator<Cause> {
  const { labels = {}, annotations = {} } = metadata;
  for (const [key, value] of Object.entries(labels)) {
    if (!isQualifiedName(key)) yield invalidValue('metadata.labels', key, 'must be a name, or a domain and a name');
    if (!isLabelValue(value)) yield invalidValue('metadata.labels', value, 'must be a label value');
  }
  for (const key of Object.keys(annotations)) {
    // A key is validated in lower case, but stored as written.
    if (!isQualifiedName(key.toLowerCase()))
      yield invalidValue('metadata.annotations', key, 'must be a name, or a domain and a name');
  }
  const bytes = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (bytes > MAX_ANNOTATION_BYTES) yield tooLong('metadata.annotations', MAX_ANNOTATION_BYTES);
  if (metadata['deletionTimestamp'] !== undefined) {
    const had = previous === undefined ? [] : finalizersOf(previous);
    const added = finalizersOf({ metadata }).filter((name) => !had.includes(name));
    if (added.length > 0)
      yield forbiddenValue('metadata.finalizers', 'no new finalizers can be added if the object is being deleted');
  }
  for (const { uid } of (metadata['ownerReferences'] ?? []) as readonly { readonly uid?: string }[]) {
    if (!uid) yield invalidValue('metadata.ownerReferences.uid', uid, 'must not be empty');
  }
}
