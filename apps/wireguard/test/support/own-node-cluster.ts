import { fileURLToPath } from 'node:url';
import type { Answer, KubeObject, TestClient } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { bash, docBlocks, node, type RealCluster, startRealCluster } from '@kube-semaphore/testkit';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

const ACCOUNT = 'semaphore-wireguard';

/** The object that an agent's token is bound to. */
type Bound = { readonly to: 'Pod' | 'Node'; readonly node: string } | { readonly to: 'nothing' };

/** A cluster after the commands of docs/wireguard.md, with the Nodes n1 and n2, which have annotations of others, too. */
export class OwnNodeCluster {
  readonly cluster: RealCluster;
  #agents = 0;

  private constructor(cluster: RealCluster) {
    this.cluster = cluster;
  }

  /** Resolves once the policy is in force. */
  static async start(): Promise<OwnNodeCluster> {
    const cluster = await startRealCluster({
      name: 'c1',
      controllerManager: ['validatingadmissionpolicy-status-controller'],
    });
    try {
      const started = new OwnNodeCluster(cluster);
      await started.bash(docBlocks('wireguard.md', 'Rights').join(''));
      await Promise.all(['n1', 'n2'].map((name) => started.#createNode(name)));
      const agent = await started.agent({ to: 'Pod', node: 'n1' });
      const trial = { metadata: { labels: { trial: 'true' } } };
      // A dry run, so that nothing changes before the policy is in force.
      // Its role is known a moment later, too; without it, authorization would refuse.
      await eventually(
        async () =>
          refusal(await agent.request('PATCH', '/api/v1/nodes/n1?dryRun=All', trial)).includes(
            'ValidatingAdmissionPolicy',
          ),
        true,
      );
      return started;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** A client with a token of the agent's account in `namespace`; default: that of the manifests. */
  async agent(bound: Bound, namespace = 'kube-system'): Promise<TestClient> {
    return this.#client(`${namespace}/serviceaccounts/${ACCOUNT}`, await this.#reference(bound, namespace));
  }

  /** A client like the agents of other clusters. */
  remoteAgent(): Promise<TestClient> {
    return this.#client(`kube-system/serviceaccounts/${ACCOUNT}-remote`);
  }

  /** The agent's account in another namespace, with every right on Nodes: so only the policy can refuse. */
  async accountWithAllRights(namespace: string): Promise<void> {
    const { admin } = this.cluster;
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const [metadata, apiGroup] = [{ name: namespace }, 'rbac.authorization.k8s.io'];
    await admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
    await admin.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: ACCOUNT },
    });
    await admin.create(`${rbac}/clusterroles`, {
      apiVersion: `${apiGroup}/v1`,
      kind: 'ClusterRole',
      metadata,
      rules: [{ apiGroups: [''], resources: ['nodes', 'nodes/status', 'nodes/proxy'], verbs: ['*'] }],
    });
    await admin.create(`${rbac}/clusterrolebindings`, {
      apiVersion: `${apiGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup, kind: 'ClusterRole', name: namespace },
      subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace }],
    });
    const mighty = await this.agent({ to: 'nothing' }, namespace);
    await eventually(async () => (await mighty.request('GET', '/api/v1/nodes')).status, 200);
  }

  /** Runs commands in the root of the project. @returns their output */
  async bash(commands: string): Promise<string> {
    return (await bash(`cd ${root}\n${commands}`, this.cluster)).stdout;
  }

  async node(name: string): Promise<KubeObject> {
    return this.cluster.admin.get(`/api/v1/nodes/${name}`);
  }

  stop(): Promise<void> {
    return this.cluster.stop();
  }

  async #client(account: string, boundObjectRef?: object): Promise<TestClient> {
    const { status } = await this.cluster.admin.create(`/api/v1/namespaces/${account}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 3600, ...(boundObjectRef && { boundObjectRef }) },
    });
    return this.cluster.clientFor((status as { token: string }).token);
  }

  async #createNode(name: string): Promise<void> {
    const { admin } = this.cluster;
    const { metadata } = await admin.get('/api/v1/namespaces/default');
    const object = node({
      name,
      labels: { rack: 'r1' },
      annotations: {
        'example.org/note': 'mine',
        'c2.wireguard.semaphore.uw.io/pubKey': 'old',
        'c2.wireguard.semaphore.uw.io/endpoint': 'old',
      },
      podCIDRs: ['10.2.0.0/24'],
    });
    const owner = { apiVersion: 'v1', kind: 'Namespace', name: 'default', uid: metadata.uid };
    await admin.create('/api/v1/nodes', {
      ...object,
      metadata: { ...object.metadata, finalizers: ['example.org/keep'], ownerReferences: [owner] },
    });
  }

  async #reference(bound: Bound, namespace: string): Promise<object | undefined> {
    if (bound.to === 'nothing') return undefined;
    if (bound.to === 'Node') return { apiVersion: 'v1', kind: 'Node', name: bound.node };
    this.#agents += 1;
    const name = `agent-${this.#agents}`;
    await this.cluster.admin.create(`/api/v1/namespaces/${namespace}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { nodeName: bound.node, serviceAccountName: ACCOUNT, containers: [{ name: 'agent', image: 'agent' }] },
    });
    return { apiVersion: 'v1', kind: 'Pod', name };
  }
}

/** The HTTP status and message of a refusal. */
export const refusal = ({ status, body }: Answer): string => `${status} ${String(body['message'])}`;
