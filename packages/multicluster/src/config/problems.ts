import { type Cidr, type IpFamily, parseCidr, parseRange, type Parsed, widthProblem } from '@kube-semaphore/net';
import { familiesOf, inFamilies } from './families.ts';

type Names = readonly string[] | undefined;

/** Collects what is wrong with a config file while its settings are read. */
export class Problems {
  /** Sentences for the operator, each with its field. With any of them, the settings must not be used. */
  readonly problems: string[] = [];

  /** The value; or a problem, and `otherwise` in its place. */
  check<T>(at: string, parsed: Parsed<T>, otherwise: T): T {
    if (parsed.ok) return parsed.value;
    this.problems.push(`${at}: ${parsed.reason}`);
    return otherwise;
  }

  /**
   * Each value that two items share is a problem. An empty text or 0 is an unset or invalid field, with its own problem.
   *
   * @param fields by their place, such as `remotes: name`
   */
  unique<T>(items: readonly T[], fields: Readonly<Record<string, (item: T) => string | number>>): void {
    for (const [at, valueOf] of Object.entries(fields)) {
      const values = items.map(valueOf);
      const repeated = values.filter((value, i) => value !== '' && value !== 0 && values.indexOf(value) !== i);
      for (const value of new Set(repeated)) this.problems.push(`${at} ${value} is used twice`);
    }
  }

  /** The ranges of a remote's Pods; each that no remote may have is a problem. */
  ranges(at: string, texts: readonly string[]): readonly Cidr[] {
    const ranges = this.cidrs(at, texts, parseRange);
    const problem = widthProblem(ranges);
    if (problem !== undefined) this.problems.push(`${at}: ${problem}`);
    return ranges;
  }

  /** The addresses that a remote's Pods may have. @param at the place of its entry, such as `remotes[0]` */
  podAddresses(
    at: string,
    { families: names, allowedPodCIDRs }: { readonly families?: Names; readonly allowedPodCIDRs?: Names },
  ): { readonly families: readonly IpFamily[] | undefined; readonly allowedPodCidrs: readonly Cidr[] | undefined } {
    const ranges = allowedPodCIDRs && this.ranges(`${at}.allowedPodCIDRs`, allowedPodCIDRs);
    const read = familiesOf(names, { ranges, field: 'allowedPodCIDRs' });
    const families = this.check(`${at}.families`, read, undefined);
    return { families, allowedPodCidrs: inFamilies(ranges, families) };
  }

  /** The CIDRs of a list; each invalid one is a problem. */
  cidrs(at: string, texts: readonly string[], parse: (text: string) => Parsed<Cidr> = parseCidr): readonly Cidr[] {
    return texts
      .map((text, i) => this.check(`${at}[${i}]`, parse(text), undefined))
      .filter((cidr) => cidr !== undefined);
  }
}
