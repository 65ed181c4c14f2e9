import { randomBytes, randomUUID } from 'node:crypto';
import { readObject } from '../http/body.ts';
import type { Call } from '../http/call.ts';
import { required } from '../http/causes.ts';
import { normalise } from '../kinds/defaults.ts';
import type { Resource } from '../kinds/resources.ts';
import { check } from '../kinds/rules.ts';
import { alreadyExists, badRequest, invalid, namespaceEnds, notFound, unexpected } from '../http/status.ts';
import type { Storage } from '../storage/storage.ts';
import { StoredObject } from '../storage/stored-object.ts';
import type { KubeObject } from '../test-cluster.ts';
import { timestamp } from '../storage/timestamp.ts';

/**
 * Answers a POST. With `dryRun` it stores nothing.
 *
 * @throws {ApiError} 404 for a missing namespace, 409 if the name is taken, 422 for a broken rule
 */
export async function create({ behaviour, info, request, resource, target, storage }: Call): Promise<StoredObject> {
  const object = await readObject(request, resource);
  if (object.metadata.resourceVersion) throw unexpected('resourceVersion should not be set on objects to be created');
  const mutated = behaviour.mutate(inNamespace(object, target.namespace));
  return insert(storage, resource, mutated, { isDryRun: info.query.has('dryRun') });
}

/** The object with the namespace of the request. @throws {ApiError} 400 if it names another */
export function inNamespace(object: KubeObject, namespace: string): KubeObject {
  if ((object.metadata.namespace ?? namespace) !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return namespace === '' ? object : { ...object, metadata: { ...object.metadata, namespace } };
}

/** Stores a new object, unless it is a dry run. @throws {ApiError} as `create` */
export function insert(
  storage: Storage,
  resource: Resource,
  object: KubeObject,
  { isDryRun = false }: { readonly isDryRun?: boolean } = {},
): StoredObject {
  const { namespace = '', name, generateName } = object.metadata;
  if (!name && !generateName) {
    throw invalid(resource.group, resource.kind, '', [required('metadata.name', 'name or generateName is required')]);
  }
  const complete = withSystemFields(storage, resource, {
    ...object,
    metadata: { ...object.metadata, name: name || `${String(generateName)}${suffix()}` },
  });
  check(resource, complete);
  const subject = { group: resource.group, plural: resource.plural, name: complete.metadata.name };
  if (resource.namespaced) {
    const it = storage.collection(storage.builtIn('namespaces')).get('', namespace);
    if (!it) throw notFound({ group: '', plural: 'namespaces', name: namespace });
    if (it.isEnding) throw namespaceEnds(subject, namespace);
  }
  if (storage.collection(resource).get(namespace, complete.metadata.name)) throw alreadyExists(subject);
  return isDryRun ? new StoredObject(resource, complete) : storage.put(resource, complete);
}

function withSystemFields({ clusterIps }: Storage, resource: Resource, object: KubeObject): KubeObject {
  const normal = normalise(resource, object, { clusterIps });
  const { deletionTimestamp: _gone, ...metadata } = normal.metadata;
  const complete: KubeObject = {
    ...normal,
    metadata: {
      ...metadata,
      uid: randomUUID(),
      creationTimestamp: timestamp(Date.now()),
      ...(resource.counted && { generation: 1 }),
    },
  };
  if (resource.kind === 'Namespace') {
    complete.metadata.labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
  }
  if (resource.kind === 'CustomResourceDefinition') complete['status'] = established(complete);
  else if (resource.initialStatus !== undefined) complete['status'] = resource.initialStatus;
  else if (resource.custom && resource.statusSubresource) delete complete['status'];
  return complete;
}

/** This server serves a new definition at once. A real one takes a moment, so clients check these conditions. */
const established = ({ spec }: KubeObject) => ({
  acceptedNames: (spec as { names: unknown }).names,
  conditions: ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' })),
});

/** Five random letters; like kube-apiserver's, they can't spell words. */
const suffix = () => [...randomBytes(5)].map((byte) => 'bcdfghjklmnpqrstvwxz2456789'[byte % 27]).join('');
