import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { WatchEvent } from './watch-stream.ts';

/** What an object is part of, and what it has in it: a set's nets, say. */
export type Holding = { readonly key: string; readonly items: readonly string[] };

/** What is known of the objects of some collections. */
export class Holdings {
  readonly #objects = new Map<string, Holding>();
  readonly #objectsOf = new Map<string, Set<string>>();

  /** How many objects there are. */
  get size(): number {
    return this.#objects.size;
  }

  /** @returns all that the objects of this one's key hold now: programs may split what is large */
  apply(
    path: string,
    { type, object }: Pick<WatchEvent, 'type' | 'object'>,
    read: (object: KubeObject) => Holding,
  ): Holding {
    const id = `${path}/${object.metadata.name}`;
    const holding = read(object);
    const { key } = holding;
    const ids = this.#objectsOf.get(key) ?? new Set();
    this.#objectsOf.set(key, ids);
    if (type === 'DELETED') {
      this.#objects.delete(id);
      ids.delete(id);
    } else {
      this.#objects.set(id, holding);
      ids.add(id);
    }
    return { key, items: [...ids].flatMap((each) => this.#objects.get(each)?.items ?? []) };
  }
}
