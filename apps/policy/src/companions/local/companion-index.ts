import type { Kind, WrittenMetadata } from '@kube-semaphore/kube-objects';
import { type ObservedCompanion, sourceKeyOf, wholeCompanions } from '@kube-semaphore/network-policies';

/** The objects of companions, also those of orphans, by the `namespace/name` of their source. */
export class CompanionIndex {
  readonly #bySource = new Map<string, Map<string, ObservedCompanion>>();

  /** Every source that has companions, also those that are gone. */
  sources(): Iterable<string> {
    return this.#bySource.keys();
  }

  objectsOf(source: string): readonly ObservedCompanion[] {
    return [...(this.#bySource.get(source)?.values() ?? [])];
  }

  /** What the objects make up. */
  companionsOf(source: string): readonly ObservedCompanion[] {
    return wholeCompanions(this.objectsOf(source));
  }

  companionsFor(remote: string): readonly ObservedCompanion[] {
    const all = [...this.#bySource.keys()].flatMap((source) => this.companionsOf(source));
    return all.filter((companion) => companion.remote === remote);
  }

  /** @returns the sources whose companions changed */
  replace(previous: ObservedCompanion | undefined, current: ObservedCompanion | undefined): ReadonlySet<string> {
    const sources = new Set<string>();
    if (previous !== undefined) {
      const source = sourceKeyOf(previous);
      sources.add(source);
      const objects = this.#bySource.get(source);
      objects?.delete(idOf(previous));
      if (objects?.size === 0) this.#bySource.delete(source);
    }
    if (current !== undefined) {
      const source = sourceKeyOf(current);
      sources.add(source);
      const objects = this.#bySource.get(source) ?? new Map<string, ObservedCompanion>();
      this.#bySource.set(source, objects.set(idOf(current), current));
    }
    return sources;
  }
}

/** Tells objects of all sinks apart: a group of Calico or Cilium is in no namespace. */
export const idOf = ({ resource, object }: Identified): string =>
  `${resource.plural}.${resource.group}/${object.metadata.namespace ?? ''}/${object.metadata.name}`;

type Identified = {
  readonly resource: Kind;
  readonly object: { readonly metadata: Pick<WrittenMetadata, 'namespace' | 'name'> };
};
