import { isDeepStrictEqual } from 'node:util';
import { checkKind, readJson, readObject, unsupportedMediaType, withoutNulls } from '../http/body.ts';
import type { Call } from '../http/call.ts';
import { invalidValue } from '../http/causes.ts';
import { inNamespace, insert } from './create.ts';
import { normalise } from '../kinds/defaults.ts';
import { drop } from './ending.ts';
import { jsonPatch, type Operation } from './json-patch.ts';
import { mergePatch } from './merge-patch.ts';
import { check } from '../kinds/rules.ts';
import { prune } from '../kinds/structural-schema.ts';
import { ApiError, badRequest, conflict, invalid, notFound } from '../http/status.ts';
import { finalizersOf, StoredObject } from '../storage/stored-object.ts';
import type { KubeObject } from '../test-cluster.ts';

const staleMessage = 'the object has been modified; please apply your changes to the latest version and try again';

const patches: Readonly<Record<string, (target: KubeObject, patch: unknown) => unknown>> = {
  'application/merge-patch+json': mergePatch,
  'application/json-patch+json': (target, patch) => jsonPatch(target, patch as Operation[]),
};

/** Answers a PUT. With `dryRun` it stores nothing. @throws {ApiError} 404, 409, or 422 if the kind requires a resourceVersion */
export async function update(call: Call): Promise<{ created: boolean; object: StoredObject }> {
  const { request, resource, target, storage } = call;
  const object = inNamespace(await readObject(request, resource), target.namespace);
  checkName(call, object);
  const existing = storage.collection(resource).get(target.namespace, target.name);
  if (existing) return { created: false, object: replace(call, existing, object) };
  if (!resource.createOnUpdate) throw notFound(subjectOf(call));
  checkUid(call, object, '');
  return { created: true, object: insert(storage, resource, object, { isDryRun: call.info.query.has('dryRun') }) };
}

/**
 * Answers a PATCH, merge or JSON. With `dryRun` it stores nothing.
 *
 * @throws {ApiError} 415 for another type, 422 if it doesn't apply, or as `update`
 */
export async function patch(call: Call): Promise<StoredObject> {
  const { request, resource, target, storage } = call;
  const applyPatch = patches[request.headers['content-type']?.split(';')[0] ?? ''];
  if (!applyPatch) throw unsupportedMediaType(Object.keys(patches));
  const body = await readJson(request);
  const existing = storage.collection(resource).get(target.namespace, target.name);
  if (!existing) throw notFound(subjectOf(call));
  const patched = withoutNulls(tryPatch(applyPatch, existing.object(resource), body), resource);
  checkKind(patched, resource);
  checkName(call, patched);
  return replace(call, existing, patched);
}

function tryPatch(applyPatch: (target: KubeObject, patch: unknown) => unknown, target: KubeObject, body: unknown) {
  try {
    return applyPatch(target, body) as KubeObject;
  } catch {
    // kube-apiserver gives no details, either.
    throw new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {
      details: {},
    });
  }
}

function checkName({ target: { name } }: Call, object: KubeObject): void {
  if (object.metadata.name === name) return;
  throw badRequest(`the name of the object (${object.metadata.name}) does not match the name on the URL (${name})`);
}

const subjectOf = ({ resource: { group, plural }, target: { name } }: Call) => ({ group, plural, name });

/** Replaces `existing` by `next`, unless they are equal. */
function replace(call: Call, existing: StoredObject, next: KubeObject): StoredObject {
  const { resource, storage, info, target, behaviour } = call;
  checkVersion(call, existing, next);
  const before = existing.object(resource);
  const after = merged(call, before, target.subresource === '' ? behaviour.mutate(next) : next);
  check(resource, after, before);
  // A write that changes nothing succeeds, and causes no watch event.
  if (isDeepStrictEqual(after, before)) return existing;
  if (info.query.has('dryRun')) return new StoredObject(resource, after);
  const isReleased =
    existing.isHeld && finalizersOf(after).length === 0 && before.metadata['deletionGracePeriodSeconds'] === 0;
  if (!isReleased) return storage.put(resource, after);
  // Watches see that it is deleted, with its finalizer, and not that it changed.
  drop(storage, resource, existing);
  return new StoredObject(resource, after);
}

/** A PUT with a UID must match the object's UID. */
function checkUid(call: Call, { metadata: { uid } }: KubeObject, actual: string): void {
  if (!uid || uid === actual) return;
  throw conflict(subjectOf(call), `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${actual}`);
}

function checkVersion(call: Call, existing: StoredObject, next: KubeObject): void {
  const { resource, info, target } = call;
  const { uid, resourceVersion } = next.metadata;
  if (info.verb === 'update') checkUid(call, next, existing.uid);
  if (!resourceVersion && !resource.unconditionalUpdate) {
    const { group, plural } = resource;
    const cause = invalidValue('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalid(group, plural, existing.name, [cause]);
  }
  if (resourceVersion && resourceVersion !== String(existing.revision)) throw conflict(subjectOf(call), staleMessage);
  // The status of a custom resource is all that such a request reads, besides the version.
  const isIgnored = resource.custom && target.subresource === 'status';
  if (uid && uid !== existing.uid && !isIgnored) {
    throw invalid(resource.group, resource.kind, existing.name, [
      invalidValue('metadata.uid', uid, 'field is immutable'),
    ]);
  }
}

/** The metadata that only the server sets. */
const systemFields = [
  'uid',
  'creationTimestamp',
  'resourceVersion',
  'generation',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
];

/** `next` with everything that only the server, or another subresource, may change. */
function merged({ resource, target, storage: { clusterIps } }: Call, before: KubeObject, next: KubeObject): KubeObject {
  if (target.subresource === 'status') {
    const { status } = resource.schema ? (prune(next, resource.schema) as KubeObject) : next;
    return status === undefined ? before : { ...before, status };
  }
  const normal = normalise(resource, next, { previous: before, clusterIps });
  const { managedFields = before.metadata['managedFields'], ...metadata } = normal.metadata;
  const after: KubeObject = {
    ...normal,
    kind: before.kind,
    apiVersion: before.apiVersion,
    metadata: {
      ...metadata,
      ...Object.fromEntries(systemFields.map((field) => [field, before.metadata[field]])),
      managedFields,
    },
  };
  if (resource.statusSubresource) after['status'] = before['status'];
  if (resource.counted && changed(before, after))
    after.metadata['generation'] = Number(before.metadata['generation']) + 1;
  // JSON omits undefined fields, so they must not count as a difference.
  return JSON.parse(JSON.stringify(after)) as KubeObject;
}

function changed(
  { metadata: _a, status: _b, ...before }: KubeObject,
  { metadata: _c, status: _d, ...after }: KubeObject,
) {
  return !isDeepStrictEqual(before, after);
}
