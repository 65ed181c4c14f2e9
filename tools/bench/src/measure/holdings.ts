import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { WatchEvent } from './watch-stream.ts';

/** Reads the key of an object, and its items, such as a set's nets. */
export type Holding = { readonly key: string; readonly items: readonly string[] };

/** The known objects of some collections. */
export class Holdings {
  readonly #objects = new Map<string, Holding>();
  readonly #objectsOf = new Map<string, Set<string>>();

  /** The number of objects. */
  get size(): number {
    return this.#objects.size;
  }

  /** @returns all items of the objects with this one's key, as programs may split large objects */
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
