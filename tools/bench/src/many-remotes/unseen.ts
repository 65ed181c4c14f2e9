/**
 * The local things with a change that wasn't seen yet. A program that is behind writes several changes of one thing at once, which
 * costs less than each by itself: so such a round measures something else.
 */
export class Unseen {
  readonly #things = new Set<string>();

  /**
   * Makes a change of a thing.
   *
   * @param change resolves when it was seen
   * @throws Error if the last change of the thing wasn't seen
   */
  async during<T>(thing: string, change: () => Promise<T>): Promise<T> {
    if (this.#things.has(thing))
      throw new Error(
        `the last change of ${thing} was overtaken: the next one came before it was seen. Make fewer changes a second (--rate)`,
      );
    this.#things.add(thing);
    try {
      return await change();
    } finally {
      this.#things.delete(thing);
    }
  }
}
