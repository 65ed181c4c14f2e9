import { DecodeError } from '@kube-semaphore/kube-objects';

/** Felix takes at most 1,048,576 addresses; a server that lists more is broken or hostile. */
const MAX_OBJECTS = 1_000_000;
/** Pages with less than half of what was requested, in one list: API servers fill each page except the last. */
const MAX_THIN_PAGES = 200;

/** The keys that the list under way has named so far. */
export class Listing {
  /** How many objects the store had when the list began. */
  readonly known: number;
  readonly #keys = new Set<string>();
  #thinPages = 0;
  #countedKeys = 0;

  constructor(known: number) {
    this.known = known;
  }

  get keys(): ReadonlySet<string> {
    return this.#keys;
  }

  /** @throws DecodeError if the list has too many objects */
  add(key: string): void {
    if (this.#keys.size >= MAX_OBJECTS) throw new DecodeError(`the server lists more than ${MAX_OBJECTS} objects`);
    this.#keys.add(key);
  }

  delete(key: string): void {
    this.#keys.delete(key);
  }

  /**
   * Pages follow each other without a pause, so a server that invents tokens would be asked as fast as it answers.
   *
   * @param limit how many objects were requested for the page that ends
   * @throws DecodeError if the list seems endless
   */
  endPage(limit: number): void {
    if (this.#keys.size - this.#countedKeys < limit / 2) this.#thinPages++;
    this.#countedKeys = this.#keys.size;
    if (this.#thinPages > MAX_THIN_PAGES) throw new DecodeError('the server sends pages of a list without end');
  }
}
