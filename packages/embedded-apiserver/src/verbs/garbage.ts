import type { Storage } from '../storage/storage.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { KubeObject } from '../test-cluster.ts';

/** What becomes of those that name a deleted object as their owner: they go, or stay and forget it. */
export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan';

type OwnerReference = { uid: string };

/**
 * Does what kube-controller-manager's garbage collector would do a moment later, when `owner` has been removed. Who has
 * another owner stays. Foreground is Background here: nobody can see the difference from outside when all is done.
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
