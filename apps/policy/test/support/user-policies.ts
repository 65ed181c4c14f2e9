import type { KubeObject, TestClient, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { ObjectHistory } from '@kube-semaphore/testkit';

/** The namespace of all policies. */
const ALPHA = 'alpha';
const ALL = '/apis/networking.k8s.io/v1/networkpolicies';
const PATH = `/apis/networking.k8s.io/v1/namespaces/${ALPHA}/networkpolicies`;

const DOMAIN = 'policy.semaphore.uw.io';
/** The label that names the cluster of a namespace. */
export const K = 'cluster.clusterset.k8s.io';

type Peer = { readonly ipBlock?: { readonly cidr: string } };
type Rule = {
  readonly ports?: readonly { readonly port?: number | string }[];
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
};
type Spec = {
  readonly policyTypes: readonly string[];
  readonly ingress?: readonly Rule[];
  readonly egress?: readonly Rule[];
};

/** Pods with the label app of any namespace of a cluster. */
export const peer = (cluster: string, app?: string): object => ({
  namespaceSelector: { matchLabels: { [K]: cluster } },
  ...(app !== undefined && { podSelector: { matchLabels: { app } } }),
});

/** The policy of the first example: Pods of `app` in a cluster reach port 5432. */
export const fromApp = (cluster: string, app = 'web', port = 5432): object => ({
  podSelector: { matchLabels: { app: 'db' } },
  ingress: [{ from: [peer(cluster, app)], ports: [{ port }] }],
});

const isCompanion = ({ metadata }: KubeObject): boolean =>
  metadata.labels?.[`${DOMAIN}/managed-by`] === 'semaphore-policy';

const rulesOf = ({ spec }: KubeObject): readonly Rule[] => {
  const { ingress = [], egress = [] } = spec as Spec;
  return [...ingress, ...egress];
};

/** What a companion opens: `db c2 ingress 5432: 10.4.0.1/32`, one line for each rule. */
function opened(object: KubeObject): readonly string[] {
  const { labels = {}, annotations = {} } = object.metadata;
  const [type = ''] = (object['spec'] as Spec).policyTypes;
  return rulesOf(object).map(({ ports = [], from = [], to = [] }) => {
    const cidrs = [...from, ...to].map(({ ipBlock }) => ipBlock?.cidr ?? 'everybody');
    const numbers = ports.map(({ port }) => port).join('+') || 'all';
    return `${annotations[`${DOMAIN}/source`]} ${labels[`${DOMAIN}/cluster`]} ${type.toLowerCase()} ${numbers}: ${cidrs.join(' ')}`;
  });
}

/** The NetworkPolicies of namespace alpha of a local cluster: those of users, and their companions. */
export class UserPolicies {
  readonly #client: TestClient;
  readonly #history: ObjectHistory<readonly KubeObject[]>;

  private constructor(client: TestClient, history: ObjectHistory<readonly KubeObject[]>) {
    this.#client = client;
    this.#history = history;
  }

  static async start(cluster: TestCluster, token: string): Promise<UserPolicies> {
    const { status } = await cluster.admin.request('POST', '/api/v1/namespaces', { metadata: { name: ALPHA } });
    if (status !== 201 && status !== 409) throw new Error(`the namespace ${ALPHA} can't be created: ${status}`);
    const history = await ObjectHistory.start({ cluster, path: ALL, token, momentOf: (objects) => objects });
    return new UserPolicies(cluster.admin, history);
  }

  async add(name: string, spec: object): Promise<KubeObject> {
    const metadata = { name, namespace: ALPHA };
    return this.#client.create(PATH, { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata, spec });
  }

  /** A merge patch. */
  async patch(name: string, patch: object): Promise<void> {
    const { status, body } = await this.#client.request('PATCH', `${PATH}/${name}`, patch);
    if (status !== 200)
      throw new Error(`the NetworkPolicy ${name} can't be patched: ${status} ${String(body['message'])}`);
  }

  remove(name: string): Promise<void> {
    return this.#client.delete(`${PATH}/${name}`);
  }

  get(name: string): Promise<KubeObject> {
    return this.#client.get(`${PATH}/${name}`);
  }

  /** Sorted by name. */
  async companions(): Promise<readonly KubeObject[]> {
    const objects = await this.#client.list(PATH);
    return objects.filter(isCompanion).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  /** The owners of the companions. */
  async owners(field: 'name' | 'uid' = 'name'): Promise<readonly unknown[]> {
    return (await this.companions()).flatMap(({ metadata }) =>
      ((metadata['ownerReferences'] ?? []) as readonly Readonly<Record<string, unknown>>[]).map(
        (owner) => owner[field],
      ),
    );
  }

  /** What all companions open: see `opened`. */
  async opened(): Promise<readonly string[]> {
    return (await this.companions()).flatMap(opened).toSorted();
  }

  /** Waits until exactly this is open. */
  open(...lines: readonly string[]): Promise<void> {
    return eventually(() => this.opened(), lines.toSorted());
  }

  /** How often companions were written and deleted. */
  async writes(): Promise<number> {
    await this.#history.caughtUp();
    return this.#history.events.filter(({ object }) => isCompanion(object)).length;
  }

  /** Everything that some companion opened at some time. */
  async everOpened(): Promise<ReadonlySet<string>> {
    await this.#history.caughtUp();
    return new Set(this.#history.moments.flatMap((moment) => moment.filter(isCompanion).flatMap(opened)));
  }

  /** Rules of companions without peers, or with a selector, at any time: each would open to more than addresses. */
  async tooOpen(): Promise<readonly Rule[]> {
    await this.#history.caughtUp();
    const rules = this.#history.moments.flatMap((moment) => moment.filter(isCompanion).flatMap(rulesOf));
    return rules.filter(({ from = [], to = [] }) => {
      const peers = [...from, ...to];
      return peers.length === 0 || peers.some(({ ipBlock }) => ipBlock === undefined);
    });
  }

  /** Deletes everything, also what a running policy still writes. */
  async clear(): Promise<void> {
    const remaining = async () => {
      await this.#client.request('DELETE', PATH);
      return this.#client.list(PATH);
    };
    await eventually(remaining, []);
    this.#history.stop();
  }
}
