import { type Cidr, parseCidr, type Parsed } from '@kube-semaphore/net';
import type { OptionType } from '@kube-semaphore/options';

/** A place where a text may be said: a field of the file, or a flag with its variable. An empty text is as good as none. */
export type Place = {
  readonly at: string;
  readonly value: string | undefined;
  /** The place that took over from this one, which is still read. */
  readonly newer?: string | undefined;
};

/** What is wrong in a config file, and what is odd, as it is found on the way to settings. */
export class Findings {
  /** Sentences for the operator; with one of them the settings are no good. */
  readonly problems: string[] = [];
  /** Sentences for the log. */
  readonly warnings: string[] = [];

  /** The value; or `otherwise`, which nobody will use, and a problem. */
  check<T>(at: string, parsed: Parsed<T>, otherwise: T): T {
    if (parsed.ok) return parsed.value;
    this.problems.push(`${at}: ${parsed.reason}`);
    return otherwise;
  }

  /** The blocks of a list; each text that is none is a problem. */
  cidrs(at: string, texts: readonly string[]): readonly Cidr[] {
    return texts
      .map((text, i) => this.check(`${at}[${i}]`, parseCidr(text), undefined))
      .filter((cidr) => cidr !== undefined);
  }

  /** The first text that is said, places in the order in which they count; older ones with a warning. */
  first(places: readonly Place[], type: OptionType<string>): string | undefined {
    const said = places.filter(({ value = '' }) => value !== '');
    const [best] = said;
    for (const place of said) {
      if (place.newer === undefined) continue;
      this.warnings.push(
        place === best
          ? `${place.at} is an older spelling: use ${place.newer}`
          : `${place.at} counts for nothing beside ${best!.at}`,
      );
    }
    return best && this.check(best.at, type.parse(best.value!), '');
  }

  /** As `first`, and a problem where nothing is said; the best place to say it first. */
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
