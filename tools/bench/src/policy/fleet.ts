import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { labelDomains, nameLabel } from '@kube-semaphore/network-policies';
import { pod } from '@kube-semaphore/testkit';
import { addresses, digits } from '../load/names.ts';

/** The distinct fields of a pod. */
export type Member = {
  readonly namespace: string;
  readonly name: string;
  /** The value of its name labels. With the namespace, it determines the set. */
  readonly app: string;
  /** The value of a label that differs in the pods of a set, if there are more label sets than sets. */
  readonly revision: string;
  ip: string;
};

/**
 * The numbers of pods and sets in each remote cluster. With `labelSets`, the pods have this number of distinct label sets, and
 * no labels that make them members of sets.
 */
export type FleetSize = { readonly pods: number; readonly sets: number; readonly labelSets?: number | undefined };

const NAMESPACES = 20;
/** Number of addresses per remote cluster. */
const ADDRESSES_PER_REMOTE = 240_000;

/** Namespaces have two digits. */
export const MOST_REMOTES = 100 / NAMESPACES;

/** With two others, as many labels as pods often have. */
const COMMON_LABELS = {
  'app.kubernetes.io/component': 'server',
  'app.kubernetes.io/instance': 'production',
  'app.kubernetes.io/managed-by': 'Helm',
  'app.kubernetes.io/part-of': 'shop',
  team: 'payments',
  tier: 'backend',
};

/**
 * A remote cluster's pods with their present addresses, all distinct from those of other remotes. Names and first
 * addresses have equal lengths, so that a pod's bytes can be made from another's.
 */
export class Fleet {
  readonly members: readonly Member[];
  readonly namespaces: readonly string[];
  readonly nextAddress: () => string;
  readonly #isInSets: boolean;

  /**
   * Pod `i` is in set `i % sets`, so that any `sets` pods in a row are in distinct sets.
   *
   * @param remote index of the remote cluster, less than `MOST_REMOTES`
   */
  constructor({ pods, sets, labelSets }: FleetSize, remote = 0) {
    const revisions = Math.ceil((labelSets ?? sets) / sets);
    this.#isInSets = labelSets === undefined;
    this.nextAddress = addresses(remote * ADDRESSES_PER_REMOTE);
    this.namespaces = Array.from({ length: Math.min(NAMESPACES, sets, pods) }, (_, index) => {
      return `team-${digits(remote * NAMESPACES + index, 2)}`;
    });
    this.members = Array.from({ length: pods }, (_, index) => {
      const set = index % sets;
      return {
        namespace: this.namespaces[set % NAMESPACES]!,
        name: `pod-${digits(index, 7)}`,
        app: `app-${digits(set, 5)}`,
        revision: `rev-${digits(Math.floor(index / sets) % revisions, 6)}`,
        ip: this.nextAddress(),
      };
    });
  }

  /** `count` pods of a further set, in the first namespace, without addresses. */
  recruit(app: string, count: number): Member[] {
    const { namespace, revision } = this.members[0]!;
    return Array.from({ length: count }, (_, index) => {
      return { namespace, name: `${app}-${digits(index, 5)}`, app, revision, ip: '' };
    });
  }

  /** A pod of realistic size, with the labels of all releases, as peers may be old. */
  object({ namespace, name, app, revision, ip }: Member): KubeObject {
    const labels = this.#isInSets
      ? Object.fromEntries(labelDomains.map((domain) => [nameLabel(domain), app]))
      : { app, ...COMMON_LABELS };
    return pod({
      namespace,
      name,
      labels: { ...labels, 'pod-template-hash': revision },
      ips: ip === '' ? [] : [ip],
      nodeName: 'node-1',
      sizeBytes: 15_000,
    });
  }
}

/** The path of a pod. */
export function pathOf({ namespace, name }: Member): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** The set of a pod: `namespace/app`. */
export function setOf({ namespace, app }: Pick<Member, 'namespace' | 'app'>): string {
  return `${namespace}/${app}`;
}

/** A pod's address as a net. */
export function netOf({ ip }: Pick<Member, 'ip'>): string {
  return `${ip}/32`;
}

/** The expected nets of each set, by `setOf`. */
export function expectedNets(members: readonly Member[]): Map<string, Set<string>> {
  const bySet = Map.groupBy(members, setOf);
  return new Map(Array.from(bySet, ([set, pods]) => [set, new Set(pods.map(netOf))]));
}
