import type { IpFamily } from './service-spec.ts';

/** Of Services. */
const RANGES: Readonly<Record<IpFamily, string>> = { IPv4: '10.96.0.0/16', IPv6: 'fd00:10:96::/112' };

/** Assigns the addresses of a cluster's Services. No address is reused. */
export class ClusterIps {
  /** The families that Services may have, the cluster's primary one first. */
  readonly families: readonly IpFamily[];
  /** A real cluster gives the first address of each range to the Service "kubernetes". */
  #last = 1;

  constructor(families: readonly IpFamily[]) {
    this.families = families;
  }

  get ranges(): readonly string[] {
    return this.families.map((family) => RANGES[family]);
  }

  next(family: IpFamily): string {
    this.#last += 1;
    if (this.#last > 0xffff) throw new Error('no more addresses for Services');
    return family === 'IPv4'
      ? `10.96.${this.#last >> 8}.${this.#last & 255}`
      : `fd00:10:96::${this.#last.toString(16)}`;
  }
}
