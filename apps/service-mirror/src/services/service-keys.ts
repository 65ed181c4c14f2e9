import { Admissions } from '@kube-semaphore/multicluster';
import type { MirrorOptions } from '../config/options.ts';
import { prefixesOf, type PrefixList } from '../config/settings.ts';
import { Claims } from './desired/claims.ts';
import type { ClusterDiagnostic } from '../endpoints/desired/diagnostic.ts';
import { keysOfLocalName, sourcesOf } from './desired/keys-of-local-name.ts';
import type { ObservedService } from '../endpoints/desired/observed.ts';
import type { SourceService } from '../endpoints/desired/source.ts';
import type { LocalObjects } from './local/objects.ts';
import type { MirrorMetrics } from '../metrics/metrics.ts';
import { globalKey, globalServiceName, mirrorClusterLabel, mirrorKey, mirrorServiceName } from '../names.ts';

/** What the Services that a selector finds are for. */
export type Use = 'mirror' | 'global';

export type ServiceKeysOptions = {
  readonly remotes: PrefixList;
  readonly options: Pick<MirrorOptions, 'maxRemoteServices'>;
  readonly local: Pick<LocalObjects, 'service' | 'slices'>;
  readonly metrics: Pick<MirrorMetrics, 'remoteOverBudget'>;
};

/** From a Service of a cluster to the keys that it concerns: who has a local name, and what is within the budget. */
export class ServiceKeys {
  readonly #options: ServiceKeysOptions;
  readonly #claims = new Claims();
  /** Keys whose source was seen since the cluster was first watched, by cluster, until nothing is left of one. */
  readonly #seen = new Map<string, Set<string>>();
  /** Which Services of a remote may have local objects, by cluster and key. */
  readonly #admissions = new Map<string, Admissions>();

  constructor(options: ServiceKeysOptions) {
    this.#options = options;
  }

  get #prefixes(): ReadonlyMap<string, string> {
    return prefixesOf(this.#options.remotes);
  }

  /**
   * A Service was added, changed or removed.
   *
   * @returns the keys to reconcile
   */
  changed(
    service: SourceService,
    { cluster, use, isRemoved }: { readonly cluster: string; readonly use: Use; readonly isRemoved: boolean },
  ): ReadonlySet<string> {
    const { namespace, name, createdAt, uid } = service;
    const key = keyOf(use, cluster, service);
    const localName =
      use === 'mirror'
        ? mirrorServiceName(this.#prefixes.get(cluster) ?? '', namespace, name)
        : globalServiceName(namespace, name);
    const claim = { key, cluster, namespace, name, createdAt };
    const claimants = isRemoved ? this.#claims.remove(localName, claim) : this.#claims.add(localName, claim);
    // A seeded Service has no UID: it was read from our own objects, not seen.
    if (!isRemoved && uid !== '') this.#see(cluster, key);
    return new Set([key, ...claimants, ...this.#admit(cluster, { key, use, localName, isRemoved })]);
  }

  /** A remote left the config, or has other settings: nothing is known of it. @returns its keys, and those that may get its names */
  forget(cluster: string): readonly string[] {
    this.#seen.delete(cluster);
    this.#admissions.delete(cluster);
    return this.#claims.forget(cluster);
  }

  /** The keys that want a local name; the first one has it. */
  claimants(localName: string): readonly string[] {
    return this.#claims.keys(localName);
  }

  /** The keys that a local Service of this name may be for. */
  ofName(localName: string): readonly string[] {
    const claimants = this.#claims.keys(localName);
    return claimants.length > 0 ? claimants : keysOfLocalName(localName, this.#prefixes);
  }

  /** The keys that a local Service may have been made for. */
  sourcesOf(observed: ObservedService): readonly string[] {
    return sourcesOf(observed, this.#prefixes);
  }

  /** Whether a key's source was seen since its cluster was first watched. */
  wasSeen(key: string): boolean {
    // A loop, as each reconcile asks, and there may be hundreds of clusters.
    for (const keys of this.#seen.values()) if (keys.has(key)) return true;
    return false;
  }

  /** No source wants the key, and nothing local is left of it: names of Services that went must not become more and more. */
  forgetSeen(key: string): void {
    for (const keys of this.#seen.values()) keys.delete(key);
  }

  /** How many Services of a remote have local objects: mirrors, and parts of global Services. */
  servicesOf(remote: string): number {
    return this.#admissions.get(remote)?.size ?? 0;
  }

  /** Why a cluster's part in a key is skipped; empty if it isn't. */
  overBudget(key: string, cluster: string): readonly ClusterDiagnostic[] {
    if (this.#admissions.get(cluster)?.isWaiting(key) !== true) return [];
    const detail = `the remote has reached its limit of ${this.#options.options.maxRemoteServices} services (-max-remote-services)`;
    return [{ cluster, kind: 'problem', reason: 'over-budget', detail }];
  }

  /** Admits a Service if there is room, or gives the room of a removed one to another. @returns the key of that one */
  #admit(
    cluster: string,
    { key, use, localName, isRemoved }: { key: string; use: Use; localName: string; isRemoved: boolean },
  ): readonly string[] {
    const { local, metrics, options } = this.#options;
    // The local cluster has no limit.
    if (!this.#prefixes.has(cluster)) return [];
    const admissions = this.#admissions.get(cluster) ?? new Admissions(options.maxRemoteServices);
    this.#admissions.set(cluster, admissions);
    const isHere = (): boolean =>
      use === 'mirror'
        ? local.service(localName) !== undefined
        : local.slices(localName).some(({ labels }) => labels[mirrorClusterLabel] === cluster);
    const next = isRemoved ? admissions.leave(key) : undefined;
    if (!isRemoved) admissions.enter(key, { isHere: isHere() });
    metrics.remoteOverBudget.set({ remote: cluster, budget: 'services' }, admissions.isOver ? 1 : 0);
    return next === undefined ? [] : [next];
  }

  #see(cluster: string, key: string): void {
    const seen = this.#seen.get(cluster);
    if (seen === undefined) this.#seen.set(cluster, new Set([key]));
    else seen.add(key);
  }
}

/** The key of a Service of a cluster. */
export const keyOf = (
  use: Use,
  cluster: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): string => (use === 'mirror' ? mirrorKey(cluster, namespace, name) : globalKey(namespace, name));
