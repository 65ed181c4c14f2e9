import { readFile } from 'node:fs/promises';
import { eventually } from '@kube-semaphore/eventually';
import { builtImage, dnsImage, dnsManifests, NodeCluster, type RealNode } from '@kube-semaphore/real-nodes';
import { bash, docBlocks, globalNetworkSetCrd, imageName, type RealCluster } from '@kube-semaphore/testkit';
import type { Network, NetworkNode } from '@kube-semaphore/testnet';
import { type App, workloads } from './manifests.ts';
import { programsConfigMap, SHOP } from './shop-manifests.ts';

/** The usual address of a cluster's DNS. */
const CLUSTER_DNS = '10.96.0.10';

/** The Pod range of the cluster with this name in deploy/overlays/example. */
const podRanges: Readonly<Record<string, string>> = { c1: '10.2.0.0/16', c2: '10.4.0.0/16' };

/** The image of an app, as a later release would be called. */
const nextImage = (app: App): string => `${imageName(app)}-next`;

const appNames = Object.keys(workloads) as readonly App[];

/** A Pod, as far as the scenarios need it. */
export type Pod = {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
};

export const isReady = ({ status: { conditions = [] } }: Pod): boolean =>
  conditions.some(({ type, status }) => type === 'Ready' && status === 'True');

/** One of the two clusters, with its nodes on a network. */
export class Side {
  readonly #nodes: NodeCluster;

  private constructor(nodes: NodeCluster) {
    this.#nodes = nodes;
  }

  /** Starts a control plane. It notices a lost node after five seconds, instead of Kubernetes' 40 or 50. */
  static async start(name: string, network: Network): Promise<Side> {
    const nodes = await NodeCluster.start({
      name,
      network,
      clusterCidr: podRanges[name] ?? '',
      serviceCidr: '10.96.0.0/16',
      images: [dnsImage(), ...appNames.map((app) => builtImage(imageName(app), [nextImage(app)]))],
      times: { statusSeconds: 1, leaseSeconds: 4, syncSeconds: 1 },
      controllerManagerFlags: { 'node-monitor-period': '500ms', 'node-monitor-grace-period': '5s' },
    });
    return new Side(nodes);
  }

  get name(): string {
    return this.cluster.name;
  }

  get cluster(): RealCluster {
    return this.#nodes.cluster;
  }

  get nodes(): readonly RealNode[] {
    return this.#nodes.nodes;
  }

  /** The node with this name. @throws {Error} if there is none */
  node(name: string): RealNode {
    const found = this.nodes.find((node) => node.name === name);
    if (found === undefined) throw new Error(`${this.name} has no node ${name}`);
    return found;
  }

  /** Runs kubectl as an administrator. @returns its standard output */
  async kubectl(commands: string): Promise<string> {
    return (await bash(`kubectl ${commands}`, this.cluster)).stdout;
  }

  /** Applies objects as an administrator. */
  async apply(items: readonly object[]): Promise<void> {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await this.kubectl(`apply --server-side -f - <<'END'\n${list}\nEND`);
  }

  /** The Pods of a namespace with this label, also those that end. */
  async pods(namespace: string, app: string): Promise<readonly Pod[]> {
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3D${app}`;
    return (await this.cluster.admin.list(path)) as unknown as readonly Pod[];
  }

  /** The logs of kube-semaphore, for the report of a failure. */
  async logs(): Promise<string> {
    const commands = appNames.map(
      (app) =>
        `kubectl -n ${workloads[app].namespace} logs -l app=semaphore-${app} --all-containers --prefix --tail=60 2>&1 || true`,
    );
    const { stdout } = await bash(['kubectl get pods -A -o wide || true', ...commands].join('\n'), this.cluster);
    return `${this.name}:\n${stdout}`;
  }

  /** Prepares the cluster as an administrator would: nodes, routes from the other cluster's API server, and DNS. */
  async build(remote: NetworkNode, count: number): Promise<void> {
    await this.#nodes.addCaller(remote);
    await this.cluster.defineResource(globalNetworkSetCrd('crd.projectcalico.org'));
    await this.#nodes.addNodes(count);
    const [corefile = ''] = docBlocks('service-mirror.md', 'Names in CoreDNS', '');
    const program = (file: URL) => readFile(file, 'utf8');
    await this.apply([
      ...dnsManifests(CLUSTER_DNS, corefile.replaceAll('c2', remote.name)),
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SHOP } },
      programsConfigMap({
        'web.mts': await program(new URL('./web.ts', import.meta.url)),
        'caller.mts': await program(new URL('./caller.ts', import.meta.url)),
      }),
    ]);
    await this.kubectl('-n kube-system rollout status deployment/coredns --timeout=120s');
  }

  /** Adds a node, with an agent. */
  async addNode(): Promise<RealNode> {
    const [node] = await this.#nodes.addNodes(1);
    if (node === undefined) throw new Error('no node was added');
    await this.rolledOut('wireguard');
    return node;
  }

  /** Waits until all Pods of an app are updated and ready. */
  async rolledOut(app: App): Promise<void> {
    const { workload, namespace } = workloads[app];
    await this.kubectl(`-n ${namespace} rollout status ${workload} --timeout=120s`);
  }

  /** Waits until all apps are ready. */
  async ready(): Promise<void> {
    await Promise.all(appNames.map((app) => this.rolledOut(app)));
  }

  /** Gives the Pods of an app the image of the next release. */
  async upgrade(app: App): Promise<void> {
    const { workload, namespace } = workloads[app];
    await this.kubectl(`-n ${namespace} set image ${workload} '*=${nextImage(app)}'`);
    await this.rolledOut(app);
  }

  /** Moves all Pods away from a node, but for those of DaemonSets. Resolves when others replace them. */
  async drain({ name }: RealNode): Promise<void> {
    await this.kubectl(`drain ${name} --ignore-daemonsets --delete-emptydir-data --timeout=120s`);
    await this.ready();
    await this.kubectl('-n kube-system rollout status deployment/coredns --timeout=120s');
  }

  /** Lets a node get Pods again. */
  async uncordon({ name }: RealNode): Promise<void> {
    await this.kubectl(`uncordon ${name}`);
  }

  /** Kills a kubelet, and resolves when another one runs and answers. */
  async restartKubelet(node: RealNode): Promise<void> {
    const pidOf = () => node.run('pgrep', ['-x', 'kubelet']).catch(() => '');
    const before = await pidOf();
    await node.killKubelet();
    await eventually(pidOf, (pid) => pid !== '' && pid !== before, { what: `another kubelet on ${node.name}` });
    const answer = () => this.kubectl(`get --raw /api/v1/nodes/${node.name}/proxy/healthz`).catch(String);
    await eventually(answer, 'ok', { what: `the kubelet of ${node.name}` });
    await node.ready();
  }

  /** Gives the API server another CA, whose clients trust both before. @param distribute gives the CAs to other clusters */
  async changeCa(distribute: () => Promise<void>): Promise<void> {
    await this.cluster.announceCa();
    await Promise.all(this.nodes.map((node) => node.renewCertificates()));
    const bundle = (await readFile(this.cluster.caFile)).toString('base64');
    const secret = `-n kube-system get secret semaphore-policy-watcher -o jsonpath='{.data.ca\\.crt}'`;
    await eventually(() => this.kubectl(secret), bundle, { what: 'both CAs in the Secrets of accounts' });
    // It reads its CA once.
    await this.kubectl('-n kube-system rollout restart deployment/coredns');
    await this.kubectl('-n kube-system rollout status deployment/coredns --timeout=120s');
    await distribute();
    await this.cluster.changeCa();
    await Promise.all(this.nodes.map((node) => node.ready()));
  }

  /** The node of the Pod by which service-mirror writes; undefined while none leads. */
  async mirrorLeader(): Promise<RealNode | undefined> {
    const { namespace } = workloads['service-mirror'];
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/semaphore-service-mirror-${this.name}`;
    const { holderIdentity } = (await this.cluster.admin.get(path))['spec'] as { readonly holderIdentity: string };
    const pods = await this.pods(namespace, 'semaphore-service-mirror');
    const leading = pods.find(({ metadata }) => holderIdentity.startsWith(metadata.name));
    return this.nodes.find(({ name }) => name === leading?.spec.nodeName);
  }

  /** Whether the Pods of an app reach the other cluster, by their metrics. */
  async reaches(remote: string): Promise<readonly boolean[]> {
    const { namespace } = workloads['service-mirror'];
    const pods = (await this.pods(namespace, 'semaphore-service-mirror')).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
    return Promise.all(
      pods.map(async ({ metadata: { name } }) => {
        const metrics = await this.kubectl(`get --raw /api/v1/namespaces/${namespace}/pods/${name}:8080/proxy/metrics`);
        return metrics.includes(`semaphore_service_mirror_remote_up{remote="${remote}"} 1\n`);
      }),
    );
  }

  /** Stops the cluster with all of its nodes. Idempotent. */
  async stop(): Promise<void> {
    await this.#nodes.stop();
  }
}
