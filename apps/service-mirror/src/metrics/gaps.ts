import type { LocalKind } from '../services/local/objects.ts';

type Named = { readonly name: string };

/** For how long replaced Services are missing: from when the watch reports the deletion to when the next one is created. */
export class Gaps {
  readonly #now: () => number;
  /** When each Service was deleted, by name; undefined before that. */
  readonly #deletedAtMs = new Map<string, number | undefined>();

  /** @param now monotonic, in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A Service is about to be deleted and created again. */
  expect(name: string): void {
    this.#deletedAtMs.set(name, undefined);
  }

  /** A local object was added, changed or removed. */
  changed(
    kind: LocalKind,
    { previous, current }: { readonly previous: Named | undefined; readonly current: Named | undefined },
  ): void {
    if (kind !== 'services' || previous === undefined || current !== undefined) return;
    if (this.#deletedAtMs.has(previous.name)) this.#deletedAtMs.set(previous.name, this.#now());
  }

  /** A Service was created. @returns the length of the gap in ms, rounded; undefined if the Service wasn't replaced */
  over(name: string): number | undefined {
    const deletedAtMs = this.#deletedAtMs.get(name);
    this.#deletedAtMs.delete(name);
    return deletedAtMs === undefined ? undefined : Math.round(this.#now() - deletedAtMs);
  }
}
