/** One slice, by its own key: added (`previous` undefined), changed, or removed (`current` undefined). */
type Change<S> = { readonly key: string; readonly previous: S | undefined; readonly current: S | undefined };

/** Slices by the Service that they belong to. */
export class SliceIndex<S> {
  readonly #serviceOf: (slice: S) => string;
  readonly #byService = new Map<string, Map<string, S>>();

  constructor(serviceOf: (slice: S) => string) {
    this.#serviceOf = serviceOf;
  }

  /** All Services that have a slice. */
  services(): Iterable<string> {
    return this.#byService.keys();
  }

  /** The slices of a Service, in no order. */
  slices(service: string): readonly S[] {
    return [...(this.#byService.get(service)?.values() ?? [])];
  }

  /** Follows a change. @returns the Services that the slice belonged to and belongs to now */
  move({ key, previous, current }: Change<S>): ReadonlySet<string> {
    const moved = new Set<string>();
    if (previous !== undefined) {
      const service = this.#serviceOf(previous);
      const slices = this.#byService.get(service);
      slices?.delete(key);
      if (slices?.size === 0) this.#byService.delete(service);
      moved.add(service);
    }
    if (current !== undefined) {
      const service = this.#serviceOf(current);
      this.#byService.set(service, (this.#byService.get(service) ?? new Map<string, S>()).set(key, current));
      moved.add(service);
    }
    return moved;
  }
}
