import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import {
  createPod,
  docBlocks,
  findBinaries,
  globalNetworkSetCrd,
  imageRuntime,
  Kubelet,
  node as nodeObject,
  pod,
  processRuntime,
  type RealCluster,
  type RunningPod,
  type Runtime,
  runWorkload,
  service,
  startCoreDns,
  startKubeProxy,
  startRealCluster,
} from '@kube-semaphore/testkit';
import type { Network, NetworkNode } from '@kube-semaphore/testnet';
import { applyManifests, bringSecrets, deployedIn } from './manifests.ts';
import { SHOP } from './shop-manifests.ts';

/** A node of a cluster: a machine with a kubelet and kube-proxy. */
export type SystemNode = {
  readonly name: string;
  readonly podCidr: string;
  readonly machine: NetworkNode;
  readonly kubelet: Kubelet;
};

/** The usual address of a cluster's DNS. */
const CLUSTER_DNS = '10.96.0.10';

/** `image` runs our programs as containers from `npm run images`, instead of as processes of the workspace. */
const { KUBE_SEMAPHORE_RUNTIME: RUNTIME = 'process' } = process.env;

const dnsLabels = { 'k8s-app': 'kube-dns' };

/** The Pod range of the cluster with this name in deploy/overlays/example. */
const podRanges: Readonly<Record<string, string>> = { c1: '10.2', c2: '10.4' };

/** One of the two clusters: an API server with controllers, nodes on a network, and their Pods. */
export class Side {
  readonly cluster: RealCluster;
  readonly #network: Network;
  readonly #range: string;
  #nodes: readonly SystemNode[] = [];
  #nodesMade = 0;
  readonly #pods: RunningPod[] = [];
  #apiPorts: readonly number[] = [];

  private constructor(cluster: RealCluster, network: Network) {
    this.cluster = cluster;
    this.#network = network;
    this.#range = podRanges[cluster.name] ?? '';
  }

  static async start(name: string, network: Network): Promise<Side> {
    // A real cluster: its controller manager enforces quotas.
    const cluster = await startRealCluster({ name, controllerManager: ['resourcequota-controller'] });
    return new Side(cluster, network);
  }

  get name(): string {
    return this.cluster.name;
  }

  get nodes(): readonly SystemNode[] {
    return this.#nodes;
  }

  /** The started Pods of a program, by the name of its workload. */
  podsOf(workload: string): readonly RunningPod[] {
    return this.#pods.filter(({ name }) => name.startsWith(`${workload}-`));
  }

  /** The logs of all Pods of kube-semaphore, for the report of a failure. */
  get logs(): string {
    return this.#pods.map(({ logs }) => `${this.name}, ${logs}`).join('\n');
  }

  /** Prepares the cluster as an administrator would: nodes, a network between them, and DNS. */
  async build(remote: Side, nodes: number): Promise<void> {
    this.#apiPorts = [this, remote].map(({ cluster }) => Number(new URL(cluster.url).port));
    await this.cluster.defineResource(globalNetworkSetCrd('crd.projectcalico.org'));
    await this.createNamespaced('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: SHOP },
    });
    for (let i = 0; i < nodes; i++) await this.addNode();
    await this.#startDns(remote);
  }

  /** Installs kube-semaphore by deploy/README.md, and resolves when all of it is ready. Both sides must be prepared. */
  async install(remote: Side): Promise<void> {
    await bringSecrets(this.cluster, remote.cluster, await readFile(remote.cluster.caFile, 'utf8'));
    const { deployments, daemonSet } = await deployedIn(this.cluster);
    const kubelets = this.#nodes.map(({ kubelet }) => kubelet);
    await Promise.all([daemonSet, ...deployments].map((workload) => this.#run(workload, kubelets)));
  }

  /** Applies the manifests. After that, tokens for readers of this cluster can be requested. */
  async apply(remote: Side): Promise<void> {
    await applyManifests(this.cluster, remote.cluster);
  }

  /** Adds a machine with kube-proxy, and routes to its cluster's Pods as a CNI would; without kube-semaphore. */
  async addNode(): Promise<SystemNode> {
    const { cluster } = this;
    const number = ++this.#nodesMade;
    const podCidr = `${this.#range}.${number}.0/24`;
    const name = `${this.name}-n${number}`;
    const machine = await this.#network.addNode(name);
    await Promise.all(this.#apiPorts.map((port) => machine.forward(port)));
    await this.createNamespaced(
      '/api/v1/nodes',
      nodeObject({ name, podCIDRs: [podCidr], internalIPs: [machine.ipv4, machine.ipv6] }),
    );
    for (const other of this.#nodes) {
      await machine.run('ip', ['route', 'add', other.podCidr, 'via', other.machine.ipv4]);
      await other.machine.run('ip', ['route', 'add', podCidr, 'via', machine.ipv4]);
    }
    await startKubeProxy({ cluster, node: machine, clusterCidr: `${this.#range}.0.0/16` });
    let pods = 1;
    const nextIps = () => [`${this.#range}.${number}.${++pods}`];
    const kubelet = new Kubelet({
      cluster,
      nodeName: name,
      node: machine,
      runtime,
      nextIps,
      apiPorts: this.#apiPorts,
      clusterDns: CLUSTER_DNS,
      dir: join(cluster.dir, name),
    });
    const node = { name, podCidr, machine, kubelet };
    this.#nodes = [...this.#nodes, node];
    return node;
  }

  /** Starts the agent of a node that was added later, and resolves when it is ready. */
  async startAgent({ kubelet }: SystemNode): Promise<void> {
    const { daemonSet } = await deployedIn(this.cluster);
    await this.#run(daemonSet, [kubelet]);
  }

  /** Removes a node as if unplugged. The API server isn't told. */
  async loseNode(node: SystemNode): Promise<void> {
    this.#nodes = this.#nodes.filter((each) => each !== node);
    node.kubelet.abandon();
    await node.machine.stop();
  }

  /** Creates an object, and returns it as the API server stored it. */
  createNamespaced(path: string, object: object): Promise<KubeObject> {
    return this.cluster.admin.create(path, object);
  }

  /** Stops managing the Pods; the end of the network ends them. */
  abandon(): void {
    for (const { kubelet } of this.#nodes) kubelet.abandon();
  }

  /** Stops the cluster itself. */
  async stop(): Promise<void> {
    await this.cluster.stop();
  }

  async #run(workload: KubeObject, kubelets: readonly Kubelet[]): Promise<void> {
    const pods = await runWorkload(workload, kubelets);
    this.#pods.push(...pods);
    await Promise.all(pods.map((each) => each.ready()));
  }

  /** Starts CoreDNS in a Pod, behind the DNS Service, with the rules of docs/service-mirror.md for c2. */
  async #startDns(remote: Side): Promise<void> {
    const { admin } = this.cluster;
    const [node] = this.#nodes;
    if (node === undefined) throw new Error('no node for CoreDNS');
    const ports = ['UDP', 'TCP'].map((protocol) => ({ name: `dns-${protocol.toLowerCase()}`, protocol, port: 53 }));
    await admin.create(
      '/api/v1/namespaces/kube-system/services',
      service({
        name: 'kube-dns',
        namespace: 'kube-system',
        selector: dnsLabels,
        ports,
        spec: { clusterIP: CLUSTER_DNS },
      }),
    );
    const [corefile = ''] = docBlocks('service-mirror.md', 'Names in CoreDNS', '');
    const { place, ips } = await node.kubelet.addNetwork();
    await startCoreDns({ cluster: this.cluster, node: place, corefile: corefile.replaceAll('c2', remote.name) });
    const object = pod({ name: 'coredns', namespace: 'kube-system', labels: dnsLabels, ips, nodeName: node.name });
    await createPod(admin, {
      ...object,
      status: { ...(object['status'] as object), conditions: [{ type: 'Ready', status: 'True' }] },
    });
  }
}

const wireguardGo = findBinaries(['wireguard-go']);

const appFile = (path: string) => fileURLToPath(new URL(`../../apps/${path}`, import.meta.url));

/** Programs of the workspace and of this folder, in the place of images. */
const processes = processRuntime({
  'semaphore-policy': { launcher: appFile('policy/bin/semaphore-policy.js') },
  'semaphore-service-mirror': { launcher: appFile('service-mirror/bin/semaphore-service-mirror.js') },
  'semaphore-wireguard': {
    launcher: appFile('wireguard/bin/semaphore-wireguard.js'),
    files: wireguardGo.ok
      ? { '/usr/local/lib/semaphore-wireguard/wireguard-go': wireguardGo.paths['wireguard-go'] }
      : {},
  },
  web: { launcher: fileURLToPath(new URL('./web.ts', import.meta.url)) },
  caller: { launcher: fileURLToPath(new URL('./caller.ts', import.meta.url)) },
});

const runtime: Runtime = (start) =>
  RUNTIME === 'image' && start.image.startsWith('semaphore-') ? imageRuntime(start) : processes(start);
