import { type Cidr, parseCidr, type Parsed } from '@kube-semaphore/net';
import type { OptionType } from '@kube-semaphore/options';

/** A place that may set a text: a field of the file, or a flag with its variable. An empty text counts as unset. */
export type Place = {
  readonly at: string;
  readonly value: string | undefined;
  /** The spelling that replaces this one, which still works. */
  readonly newer?: string | undefined;
};

/** Collects the problems and warnings of a config file while its settings are read. */
export class Findings {
  /** Sentences for the operator. With any of them, the settings must not be used. */
  readonly problems: string[] = [];
  /** Sentences for the log. */
  readonly warnings: string[] = [];

  /** The value; or a problem, and `otherwise` in its place. */
  check<T>(at: string, parsed: Parsed<T>, otherwise: T): T {
    if (parsed.ok) return parsed.value;
    this.problems.push(`${at}: ${parsed.reason}`);
    return otherwise;
  }

  /** The CIDRs of a list; each invalid one is a problem. */
  cidrs(at: string, texts: readonly string[]): readonly Cidr[] {
    return texts
      .map((text, i) => this.check(`${at}[${i}]`, parseCidr(text), undefined))
      .filter((cidr) => cidr !== undefined);
  }

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
