import { readJson } from '../http/body.ts';
import type { Call } from '../http/call.ts';
import { end, type PropagationPolicy } from './ending.ts';
import { select } from './selection.ts';
import type { Resource } from '../kinds/resources.ts';
import { conflict, notFound, type Subject } from '../http/status.ts';
import type { Storage } from '../storage/storage.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { timestamp } from '../storage/timestamp.ts';

type DeleteOptions = {
  gracePeriodSeconds?: number;
  propagationPolicy?: PropagationPolicy;
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: readonly string[];
};

/** Kinds whose DELETE returns the object. Other kinds return a Status, unless a finalizer delays it. */
const returned = new Set(['Pod', 'Service', 'ServiceAccount', 'Namespace']);

/** The answer to a DELETE. */
export type Deletion = { readonly object: StoredObject } | { readonly success: Record<string, unknown> };

/** Answers a DELETE of one object. With `dryRun` it deletes nothing. @throws {ApiError} 404, or 409 when a precondition doesn't hold */
export async function remove(call: Call): Promise<Deletion> {
  const { resource, target, storage } = call;
  const options = await readOptions(call);
  const { group, plural } = resource;
  const subject = { group, plural, name: target.name };
  const existing = storage.collection(resource).get(target.namespace, target.name);
  if (!existing) throw notFound(subject);
  checkPreconditions({ ...subject, plural: resource.kind }, options, existing);
  const object = options.dryRun === undefined ? removeObject(call, existing, options) : existing;
  if (returned.has(resource.kind) || object.isHeld) return { object };
  const details = { name: target.name, ...(group !== '' && { group }), kind: plural, uid: existing.uid };
  return { success: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } };
}

/** Options from the body and the query; the query takes precedence. */
async function readOptions({ request, info: { query } }: Call): Promise<DeleteOptions> {
  const options = ((await readJson(request)) ?? {}) as DeleteOptions;
  const [grace, policy] = [query.get('gracePeriodSeconds'), query.get('propagationPolicy')];
  return {
    ...options,
    ...(grace !== null && { gracePeriodSeconds: Number(grace) }),
    ...(policy !== null && { propagationPolicy: policy as PropagationPolicy }),
  };
}

/** @param subject with the kind, not the plural, as in kube-apiserver's conflicts of this type */
function checkPreconditions(
  subject: Subject,
  { preconditions = {} }: DeleteOptions,
  { uid, revision }: StoredObject,
): void {
  const refuse = (what: string, wanted: string, actual: string, why: string) =>
    conflict(
      subject,
      `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${actual}). ${why}`,
    );
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    throw refuse('UID', preconditions.uid, uid, 'The object might have been deleted and then recreated');
  }
  const { resourceVersion } = preconditions;
  if (resourceVersion !== undefined && resourceVersion !== String(revision)) {
    throw refuse('ResourceVersion', resourceVersion, String(revision), 'The object might have been modified');
  }
}

/** Answers a DELETE of a collection: deletes the selected objects, and returns them. */
export async function removeCollection(call: Call): Promise<StoredObject[]> {
  const { resource, target, storage, info } = call;
  const options = await readOptions(call);
  const selection = select(resource, target, info.query);
  const selected = storage
    .collection(resource)
    .list()
    .filter((object) => selection.includes(object));
  return selected.map((object) => removeObject(call, object, options));
}

function removeObject({ resource, storage }: Call, existing: StoredObject, options: DeleteOptions): StoredObject {
  const { gracePeriodSeconds = 30, propagationPolicy = 'Background' } = options;
  const ends = resource.kind === 'Pod' ? mark(storage, resource, existing, gracePeriodSeconds) : existing;
  if (ends === undefined) return storage.collection(resource).get(existing.namespace, existing.name) ?? existing;
  return end(storage, resource, ends, propagationPolicy) ?? existing;
}

/**
 * Marks a pod as terminating; watches see that even if it ends at once. Returns the pod if it ends now, and
 * undefined if a kubelet must stop it first.
 */
function mark(storage: Storage, resource: Resource, existing: StoredObject, asked: number): StoredObject | undefined {
  const onNode =
    existing.fields['spec.nodeName'] !== '' && !['Succeeded', 'Failed'].includes(existing.fields['status.phase']!);
  const deletionGracePeriodSeconds = onNode ? asked : 0;
  const object = existing.object();
  const granted = object.metadata['deletionGracePeriodSeconds'] as number | undefined;
  // A grace period can be shortened, but not extended.
  if (granted !== undefined && granted <= deletionGracePeriodSeconds) return undefined;
  const deletionTimestamp = timestamp(Date.now() + deletionGracePeriodSeconds * 1000);
  const generation = Number(object.metadata['generation']) + (granted === undefined ? 1 : 0);
  const metadata = { ...object.metadata, generation, deletionTimestamp, deletionGracePeriodSeconds };
  const marked = storage.put(resource, { ...object, metadata });
  return deletionGracePeriodSeconds === 0 ? marked : undefined;
}
