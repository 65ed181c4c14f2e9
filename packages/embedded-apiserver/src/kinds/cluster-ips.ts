import type { IpFamily } from './service-spec.ts';

/** Gives out the addresses of a cluster's Services: of 10.96.0.0/16 and fd00:10:96::/112. None is given back. */
export class ClusterIps {
  /** Those that Services may have, the cluster's own first. */
  readonly families: readonly IpFamily[];
  /** The first address of each range is that of the Service "kubernetes", which isn't there. */
  #last = 1;

  constructor(families: readonly IpFamily[]) {
    this.families = families;
  }

  next(family: IpFamily): string {
    this.#last += 1;
    if (this.#last > 0xffff) throw new Error('no more addresses for Services');
    return family === 'IPv4'
      ? `10.96.${this.#last >> 8}.${this.#last & 255}`
      : `fd00:10:96::${this.#last.toString(16)}`;
  }
}
