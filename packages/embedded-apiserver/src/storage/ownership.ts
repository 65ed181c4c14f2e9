import type { Change } from './collection.ts';
import type { Resource } from '../kinds/resources.ts';
import type { StoredObject } from './stored-object.ts';

/** An object that names another as its owner. */
export type Dependent = readonly [resource: Resource, object: StoredObject];

/** All objects by UID, and their dependents, for the garbage collector. */
export class Ownership {
  readonly #existing = new Set<string>();
  /** By the owner's UID, then by the dependent's UID. */
  readonly #dependents = new Map<string, Map<string, Dependent>>();

  /** Records a change of one object. */
  record(resource: Resource, { type, object, previous }: Change): void {
    for (const owner of previous?.owners ?? []) this.#forget(owner, object.uid);
    if (type === 'DELETED') this.#existing.delete(object.uid);
    else {
      this.#existing.add(object.uid);
      for (const owner of object.owners) this.#of(owner).set(object.uid, [resource, object]);
    }
  }

  has(uid: string): boolean {
    return this.#existing.has(uid);
  }

  /** The dependents of an owner, which may not exist. */
  dependents(uid: string): readonly Dependent[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])];
  }

  #of(owner: string): Map<string, Dependent> {
    let dependents = this.#dependents.get(owner);
    if (!dependents) this.#dependents.set(owner, (dependents = new Map()));
    return dependents;
  }

  #forget(owner: string, uid: string): void {
    const dependents = this.#dependents.get(owner);
    dependents?.delete(uid);
    if (dependents?.size === 0) this.#dependents.delete(owner);
  }
}
