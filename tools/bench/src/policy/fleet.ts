import { labelDomains, nameLabel } from '@kube-semaphore/policy/names';
import type { PodOptions } from '@kube-semaphore/testkit';
import { Addresses } from '../load/addresses.ts';
import { digits } from '../load/digits.ts';

/** A pod as far as a bench tells it from the others. */
export type Member = {
  readonly namespace: string;
  readonly name: string;
  /** The value of its name labels: together with the namespace, which set it is in. */
  readonly app: string;
  ip: string;
};

/** How many pods in how many sets, of each remote cluster. */
export type FleetSize = { readonly pods: number; readonly sets: number };

const NAMESPACES = 20;
/** Addresses of one remote cluster before those of the next. */
const ADDRESSES_PER_REMOTE = 240_000;

/** Namespaces have two digits. */
export const MOST_REMOTES = 100 / NAMESPACES;

/**
 * A remote cluster's pods and what their addresses are at the moment, all distinct from other remotes'. Names and first addresses are of equal
 * length, so that a pod's bytes can be made of another's (`Stamp`).
 */
export class Fleet {
  readonly members: readonly Member[];
  readonly #remote: number;
  readonly #addresses: Addresses;

  /**
   * Pod `i` is in set `i % sets`, so that any `sets` pods in a row are in distinct sets.
   *
   * @param remote which of the remote clusters, less than `MOST_REMOTES`
   */
  constructor({ pods, sets }: FleetSize, remote = 0) {
    this.#remote = remote;
    this.#addresses = new Addresses(remote * ADDRESSES_PER_REMOTE);
    this.members = Array.from({ length: pods }, (_, index) => {
      const set = index % sets;
      return {
        namespace: this.#namespace(set % NAMESPACES),
        name: `pod-${digits(index, 7)}`,
        app: `app-${digits(set, 5)}`,
        ip: this.nextAddress(),
      };
    });
  }

  /** The namespaces of its pods. */
  get namespaces(): string[] {
    return [...new Set(this.members.map(({ namespace }) => namespace))];
  }

  /** An address that was never given before. */
  nextAddress(): string {
    return this.#addresses.next();
  }

  /** `count` pods of one more set, in the first namespace, that have no addresses yet. */
  recruit(app: string, count: number): Member[] {
    return Array.from({ length: count }, (_, index) => {
      return { namespace: this.#namespace(0), name: `${app}-${digits(index, 5)}`, app, ip: '' };
    });
  }

  #namespace(index: number): string {
    return `team-${digits(this.#remote * NAMESPACES + index, 2)}`;
  }
}

/** Which set a pod is in: `namespace/app`. */
export function setOf({ namespace, app }: Pick<Member, 'namespace' | 'app'>): string {
  return `${namespace}/${app}`;
}

/** The nets that each set is to have, by `setOf`. */
export function expectedNets(members: readonly Member[]): Map<string, Set<string>> {
  const sets = new Map<string, Set<string>>();
  for (const member of members) {
    const key = setOf(member);
    const nets = sets.get(key) ?? new Set();
    sets.set(key, nets.add(netOf(member)));
  }
  return sets;
}

/** How a pod's address is spelled in a set. */
export function netOf({ ip }: Pick<Member, 'ip'>): string {
  return `${ip}/32`;
}

/** A pod of realistic size; labelled for programs of every release, as peers may be older ones. */
export function podOptions({ namespace, name, app, ip }: Member): PodOptions {
  const labels = Object.fromEntries(labelDomains.map((domain) => [nameLabel(domain), app]));
  return { namespace, name, labels, ips: ip === '' ? [] : [ip], nodeName: 'node-1', sizeBytes: 15_000 };
}
