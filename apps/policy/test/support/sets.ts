import type { KubeObject, TestClient, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import type { CalicoGroup } from '@kube-semaphore/testkit';

/** The fields of a GlobalNetworkSet that matter here. */
export type SetView = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly nets: readonly string[];
};

const VERSIONS = { 'crd.projectcalico.org': 'v1', 'projectcalico.org': 'v3' } as const;

/** The path of GlobalNetworkSets. */
export const setsPath = (group: CalicoGroup = 'crd.projectcalico.org'): string =>
  `/apis/${group}/${VERSIONS[group]}/globalnetworksets`;

export function viewOf({ metadata: { name, labels = {} }, spec }: KubeObject): SetView {
  return { name, labels, nets: (spec as { nets?: string[] } | undefined)?.nets ?? [] };
}

/** All labels of a set, as documented. */
export function labelsOf(
  app: string,
  {
    namespace = 'default',
    cluster = 'c2',
    domain = 'semaphore.uw.systems',
    managedBy = 'calico-global-network-sync-operator',
  } = {},
): Readonly<Record<string, string>> {
  return {
    'managed-by': managedBy,
    [`${domain}/name`]: app,
    [`${domain}/namespace`]: namespace,
    [`${domain}/cluster`]: cluster,
  };
}

/** The GlobalNetworkSets of a local cluster, and what users do to them. */
export class Sets {
  readonly #client: TestClient;
  readonly #group: CalicoGroup;
  readonly #path: string;

  constructor({ admin }: TestCluster, group: CalicoGroup = 'crd.projectcalico.org') {
    this.#client = admin;
    this.#group = group;
    this.#path = setsPath(group);
  }

  get(name: string): Promise<KubeObject> {
    return this.#client.get(`${this.#path}/${name}`);
  }

  /** Waits until they can be listed: a restarted API server serves custom resources last. */
  served(): Promise<void> {
    return eventually(async () => (await this.#client.request('GET', this.#path)).status, 200);
  }

  /** All of them, sorted by name. */
  async list(): Promise<readonly SetView[]> {
    const sets = await this.#client.list(this.#path);
    return sets.map(viewOf).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The nets of each, by name. */
  async nets(): Promise<Readonly<Record<string, readonly string[]>>> {
    return Object.fromEntries((await this.list()).map(({ name, nets }) => [name, nets]));
  }

  /** Waits until exactly these sets exist, with these nets. */
  become(nets: Readonly<Record<string, readonly string[]>>): Promise<void> {
    return eventually(() => this.nets(), nets);
  }

  async add(
    ...sets: readonly (SetView & { readonly annotations?: Readonly<Record<string, string>> })[]
  ): Promise<void> {
    for (const { nets, ...metadata } of sets) {
      const apiVersion = `${this.#group}/${VERSIONS[this.#group]}`;
      await this.#client.create(this.#path, { apiVersion, kind: 'GlobalNetworkSet', metadata, spec: { nets } });
    }
  }

  async patch(name: string, patch: object): Promise<void> {
    const { status, body } = await this.#client.request('PATCH', `${this.#path}/${name}`, patch);
    if (status !== 200) throw new Error(`the set ${name} can't be patched: ${status} ${String(body['message'])}`);
  }

  remove(name: string): Promise<void> {
    return this.#client.delete(`${this.#path}/${name}`);
  }

  /** Deletes all of them, and those that a running policy still writes. */
  async clear(): Promise<void> {
    const remaining = async () => {
      await this.#client.request('DELETE', this.#path);
      return this.list();
    };
    await eventually(remaining, []);
  }
}
