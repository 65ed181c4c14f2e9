import { Problems } from '@kube-semaphore/multicluster';
import type { OptionType } from '@kube-semaphore/options';

/** A place that may set a text: a field of the file, or a flag with its variable. An empty text counts as unset. */
export type Place = {
  readonly at: string;
  readonly value: string | undefined;
  /** The spelling that replaces this one, which still works. */
  readonly newer?: string | undefined;
};

/** Collects the problems and warnings of a config file while its settings are read. */
export class Findings extends Problems {
  /** Sentences for the log. */
  readonly warnings: string[] = [];

  /** The first text that is set. Older and overridden spellings get a warning. @param places the strongest first */
  first(places: readonly Place[], type: OptionType<string>): string | undefined {
    const set = places.filter(({ value = '' }) => value !== '');
    const [best] = set;
    for (const place of set) {
      if (place.newer === undefined) continue;
      this.warnings.push(
        place === best
          ? `${place.at} is an older spelling: use ${place.newer}`
          : `${place.at} is ignored: ${best!.at} overrides it`,
      );
    }
    return best && this.check(best.at, type.parse(best.value!), '');
  }

  /** As `first`, with a problem if nothing is set. */
  required(places: readonly [Place, ...Place[]], type: OptionType<string>): string {
    const value = this.first(places, type);
    if (value !== undefined) return value;
    const others = places
      .slice(1)
      .filter(({ newer }) => newer === undefined)
      .map(({ at }) => `, or ${at}`);
    this.problems.push(`${places[0].at} is required${others.join('')}`);
    return '';
  }
}
