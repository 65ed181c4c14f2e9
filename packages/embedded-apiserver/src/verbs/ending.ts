import { customResources, type Resource } from '../kinds/resources.ts';
import type { Storage } from '../storage/storage.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { timestamp } from '../storage/timestamp.ts';
import type { KubeObject } from '../test-cluster.ts';

/** What happens to dependents of a deleted object: they are deleted, or lose the owner reference. */
export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan';

type OwnerReference = { uid: string };

/**
 * Deletes an object, what is in it, and what belongs to it. While something has a finalizer, that and what it is in stay,
 * with a `deletionTimestamp`. Finalizers in the metadata of a namespace itself hold it for ever.
 *
 * @returns its last state; undefined if it is gone already
 */
export function end(
  storage: Storage,
  resource: Resource,
  { namespace, name, uid }: StoredObject,
  policy: PropagationPolicy = 'Background',
): StoredObject | undefined {
  const object = storage.collection(resource).get(namespace, name);
  // It may have gone with its owner.
  if (object?.uid !== uid) return undefined;
  for (const [kind, inside] of contents(storage, resource, object)) end(storage, kind, inside);
  if (!object.isHeld && contents(storage, resource, object).length === 0)
    return drop(storage, resource, object, policy);
  return object.isEnding ? object : storage.put(resource, marked(resource, object.object()));
}

/** Deletes an object that no finalizer holds any more, and the namespace or definition that waits for it. */
export function drop(
  storage: Storage,
  resource: Resource,
  object: StoredObject,
  policy: PropagationPolicy = 'Background',
): StoredObject {
  storage.remove(resource, object);
  collectGarbage(storage, object, policy);
  for (const whole of ['namespaces', 'customresourcedefinitions'].map((plural) => storage.builtIn(plural)))
    for (const each of storage.collection(whole).list()) if (each.isEnding) end(storage, whole, each);
  return object;
}

function marked({ kind, counted }: Resource, object: KubeObject): KubeObject {
  const { generation } = object.metadata;
  const isNamespace = kind === 'Namespace';
  const metadata = {
    ...object.metadata,
    ...(counted && { generation: Number(generation) + 1 }),
    deletionTimestamp: timestamp(Date.now()),
    ...(!isNamespace && { deletionGracePeriodSeconds: 0 }),
  };
  return { ...object, metadata, ...(isNamespace && { status: { phase: 'Terminating' } }) };
}

/** What is deleted with an object: the contents of a namespace, the objects of a custom kind. */
function contents(storage: Storage, { kind }: Resource, object: StoredObject): [Resource, StoredObject][] {
  const all = (resource: Resource) =>
    storage
      .collection(resource)
      .list()
      .map((each): [Resource, StoredObject] => [resource, each]);
  if (kind === 'CustomResourceDefinition') return customResources(object.object()).slice(0, 1).flatMap(all);
  if (kind !== 'Namespace') return [];
  // The versions of a resource share their objects.
  const byObjects = new Map(storage.resources.map((resource) => [`${resource.group}/${resource.plural}`, resource]));
  return [...byObjects.values()].flatMap(all).filter(([, { namespace }]) => namespace === object.name);
}

/**
 * Does what kube-controller-manager's garbage collector does a moment after `owner` is deleted. Objects with
 * another owner stay. Foreground equals Background here, because the result is the same.
 */
function collectGarbage(storage: Storage, owner: StoredObject, policy: PropagationPolicy): void {
  for (const [resource, dependent] of storage.ownership.dependents(owner.uid)) {
    if (policy === 'Orphan' || dependent.owners.some((uid) => storage.ownership.has(uid))) {
      storage.put(resource, withoutOwner(dependent.object(), owner.uid));
    } else {
      end(storage, resource, dependent);
    }
  }
}

function withoutOwner(object: KubeObject, uid: string): KubeObject {
  const { ownerReferences, ...metadata } = object.metadata;
  const left = (ownerReferences as OwnerReference[]).filter((owner) => owner.uid !== uid);
  return { ...object, metadata: { ...metadata, ...(left.length > 0 && { ownerReferences: left }) } };
}
