import type { Storage } from '../storage/storage.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { KubeObject } from '../test-cluster.ts';

/** What happens to dependents of a deleted object: they are deleted, or lose the owner reference. */
export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan';

type OwnerReference = { uid: string };

/**
 * Does what kube-controller-manager's garbage collector does a moment after `owner` is deleted. Objects with
 * another owner stay. Foreground equals Background here, because the result is the same.
 */
export function collectGarbage(storage: Storage, owner: StoredObject, policy: PropagationPolicy): void {
  for (const [resource, dependent] of storage.ownership.dependents(owner.uid)) {
    if (policy === 'Orphan' || dependent.owners.some((uid) => storage.ownership.has(uid))) {
      storage.put(resource, withoutOwner(dependent.object(), owner.uid));
    } else {
      storage.remove(resource, dependent);
      collectGarbage(storage, dependent, 'Background');
    }
  }
}

function withoutOwner(object: KubeObject, uid: string): KubeObject {
  const { ownerReferences, ...metadata } = object.metadata;
  const left = (ownerReferences as OwnerReference[]).filter((owner) => owner.uid !== uid);
  return { ...object, metadata: { ...metadata, ...(left.length > 0 && { ownerReferences: left }) } };
}
