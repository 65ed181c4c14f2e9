/** The key of an object, and its items, such as a set's nets. */
export type Holding = { readonly key: string; readonly items: readonly string[] };

/** The known objects of some collections. */
export class Holdings {
  readonly #itemsOf = new Map<string, Map<string, readonly string[]>>();

  /** The number of objects. */
  get size(): number {
    return [...this.#itemsOf.values()].reduce((sum, objects) => sum + objects.size, 0);
  }

  /** @returns all items of the objects with this one's key, as programs may split large objects */
  apply(id: string, { key, items }: Holding, isGone: boolean): Holding {
    const objects = this.#itemsOf.get(key) ?? new Map<string, readonly string[]>();
    this.#itemsOf.set(key, objects);
    if (isGone) objects.delete(id);
    else objects.set(id, items);
    return { key, items: [...objects.values()].flat() };
  }
}
