import { PageGuard } from '@kube-semaphore/kube-objects';

/** The keys that the list under way has named so far. */
export class Listing {
  /** How many objects the store had when the list began. */
  readonly known: number;
  readonly #keys = new Set<string>();
  readonly #guard = new PageGuard();
  #countedKeys = 0;

  constructor(known: number) {
    this.known = known;
  }

  get keys(): ReadonlySet<string> {
    return this.#keys;
  }

  /** @throws DecodeError if the list has too many objects */
  add(key: string): void {
    this.#keys.add(key);
    this.#guard.checkTotal(this.#keys.size);
  }

  delete(key: string): void {
    this.#keys.delete(key);
  }

  /**
   * A page that repeats keys has no new ones.
   *
   * @param limit how many objects were requested for the page that ends
   * @throws DecodeError if the list seems endless
   */
  endPage(limit: number): void {
    const count = this.#keys.size - this.#countedKeys;
    this.#countedKeys = this.#keys.size;
    this.#guard.endPage({ count, limit });
  }
}
