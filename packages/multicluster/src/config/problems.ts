import { type Cidr, parseCidr, type Parsed } from '@kube-semaphore/net';

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

  /** The CIDRs of a list; each invalid one is a problem. */
  cidrs(at: string, texts: readonly string[], parse: (text: string) => Parsed<Cidr> = parseCidr): readonly Cidr[] {
    return texts
      .map((text, i) => this.check(`${at}[${i}]`, parse(text), undefined))
      .filter((cidr) => cidr !== undefined);
  }
}
