import type { Remotes } from '@kube-semaphore/multicluster';
import { generationOf, type ObservedCompanion } from '@kube-semaphore/network-policies';
import type { RemoteSettings } from '../../config/settings.ts';
import type { PolicyMetrics } from '../../metrics.ts';

/** What is counted of the companions of a remote. */
export type CompanionCount = {
  readonly companions: number;
  readonly addresses: number;
  /** Companions that were made from an earlier version of their source, or whose source is gone. */
  readonly behind: number;
};

const NONE: CompanionCount = { companions: 0, addresses: 0, behind: 0 };

type Gauge = Pick<PolicyMetrics['companions'], 'set' | 'remove'>;

export type CompanionCountsOptions = {
  readonly remotes: Pick<Remotes<RemoteSettings>, 'byName'>;
  readonly metrics: Readonly<Record<'companions' | 'companionAddresses' | 'companionsBehind', Gauge>>;
};

/** Counts the companions of each cluster, source by source. The metrics have those of remotes. */
export class CompanionCounts {
  readonly #options: CompanionCountsOptions;
  readonly #bySource = new Map<string, ReadonlyMap<string, CompanionCount>>();
  readonly #totals = new Map<string, CompanionCount>();

  constructor(options: CompanionCountsOptions) {
    this.#options = options;
  }

  of(remote: string): CompanionCount {
    return this.#totals.get(remote) ?? NONE;
  }

  /** The companions of a source are these now. @param generation of the source; undefined: it is gone */
  replace(source: string, companions: readonly ObservedCompanion[], generation: number | undefined): void {
    const before = this.#bySource.get(source) ?? new Map<string, CompanionCount>();
    const after = new Map<string, CompanionCount>();
    for (const companion of companions) {
      const addresses = companion.rules.reduce((sum, { cidrs }) => sum + cidrs.length, 0);
      const behind = generation !== undefined && generationOf(companion) === String(generation) ? 0 : 1;
      after.set(companion.remote, plus(after.get(companion.remote), { companions: 1, addresses, behind }, 1));
    }
    if (after.size === 0) this.#bySource.delete(source);
    else this.#bySource.set(source, after);
    for (const remote of new Set([...before.keys(), ...after.keys()])) {
      const total = plus(plus(this.#totals.get(remote), after.get(remote), 1), before.get(remote), -1);
      this.#totals.set(remote, total);
      this.#report(remote, total);
    }
  }

  /** The config changed. */
  report(): void {
    for (const [cluster, total] of this.#totals) this.#report(cluster, total);
  }

  #report(remote: string, { companions, addresses, behind }: CompanionCount): void {
    const { remotes, metrics } = this.#options;
    const gauges = [
      [metrics.companions, companions],
      [metrics.companionAddresses, addresses],
      [metrics.companionsBehind, behind],
    ] as const;
    for (const [gauge, value] of gauges)
      if (remotes.byName.has(remote)) gauge.set({ remote }, value);
      else gauge.remove({ remote });
  }
}

const plus = (a: CompanionCount = NONE, b: CompanionCount = NONE, factor: 1 | -1): CompanionCount => ({
  companions: a.companions + factor * b.companions,
  addresses: a.addresses + factor * b.addresses,
  behind: a.behind + factor * b.behind,
});
