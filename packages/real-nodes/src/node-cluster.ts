import {
  findBinaries,
  type Kubernetes,
  type RealCluster,
  startRealCluster,
  Supervision,
  type Tool,
} from '@kube-semaphore/testkit';
import type { Network, NetworkNode } from '@kube-semaphore/testnet';
import { type Ipam, nodePool, prepareCalico } from './calico.ts';
import { type ImageSource, pauseImage } from './image-source.ts';
import { ImageStore } from './image-store.ts';
import type { KubeletTimes } from './node-files.ts';
import { RealNode } from './real-node.ts';

/** An address in the Service range. By convention the first is the API server's, the tenth that of DNS. */
const serviceIp = (range: string, number: number): string => range.replace(/\d+\/\d+$/, String(number));

export type NodeClusterOptions = {
  /** Names the machine of the control plane (`c1`) and the nodes (`c1-n1`, `c1-n2`). */
  readonly name: string;
  readonly network: Network;
  /** The version of its programs and those of its nodes. Default `kubernetes`. */
  readonly kubernetes?: Kubernetes | undefined;
  /** The range of all Pods, of which each node gets a /24. */
  readonly clusterCidr: string;
  /** The range of Services, whose address ends in .0. */
  readonly serviceCidr: string;
  /** The images of each node, besides that of Pods' own namespaces. */
  readonly images: readonly ImageSource[];
  readonly times?: KubeletTimes;
  /** Lets Calico connect Pods and enforce policies, with addresses from this plugin. Default: a bridge, and no policies. */
  readonly calico?: Ipam;
  /** Flags of kube-controller-manager, names without dashes to values. */
  readonly controllerManagerFlags?: Readonly<Record<string, string>>;
};

/** A cluster with real nodes: the control plane is on one machine of a network, each node on another. */
export class NodeCluster {
  readonly cluster: RealCluster;
  readonly #options: NodeClusterOptions;
  readonly #supervision: Supervision;
  readonly #images: Promise<ImageStore>;
  readonly #nodes: RealNode[] = [];
  /** Machines of others with routes to the Pods. */
  readonly #callers: NetworkNode[] = [];

  private constructor(
    options: NodeClusterOptions,
    cluster: RealCluster,
    supervision: Supervision,
    images: Promise<ImageStore>,
  ) {
    this.#options = options;
    this.cluster = cluster;
    this.#supervision = supervision;
    this.#images = images;
  }

  /**
   * Starts a control plane; it has no nodes yet. It takes root.
   *
   * @throws {Error} if a program isn't built
   */
  static async start(options: NodeClusterOptions): Promise<NodeCluster> {
    const { name, network, kubernetes, clusterCidr, serviceCidr, controllerManagerFlags = {} } = options;
    const images = ImageStore.open([pauseImage(), ...options.images]);
    // `addNodes` throws it.
    images.catch(() => {});
    const machine = await network.addNode(name);
    const cluster = await startRealCluster({
      name,
      kubernetes,
      machine,
      serverIps: [serviceIp(serviceCidr, 1)],
      controllerManager: ['*'],
      controllerManagerFlags: {
        'allocate-node-cidrs': 'true',
        'cluster-cidr': clusterCidr,
        ...controllerManagerFlags,
      },
      scheduler: true,
      apiserverFlags: {
        'authorization-mode': 'Node,RBAC',
        'enable-admission-plugins': 'NodeRestriction',
        // The default account of each namespace is there, as all controllers run.
        'disable-admission-plugins': '',
        'allow-privileged': 'true',
        'service-cluster-ip-range': serviceCidr,
        // It writes the endpoint of the Service "kubernetes", by which Pods reach the API server.
        'endpoint-reconciler-type': 'lease',
        'advertise-address': machine.ipv4,
      },
    });
    try {
      if (options.calico !== undefined) await prepareCalico(cluster);
      return new NodeCluster(options, cluster, await Supervision.start(), images);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  get nodes(): readonly RealNode[] {
    return this.#nodes;
  }

  /** Adds nodes, with routes between their Pods. Resolves when they are ready. */
  async addNodes(count: number): Promise<readonly RealNode[]> {
    const { name, network, kubernetes, clusterCidr, serviceCidr, times = {}, calico } = this.#options;
    const engines: readonly Tool[] = calico === undefined ? [] : ['calico', 'calico-felix'];
    const binaries = findBinaries(['kubelet', 'kube-proxy', ...engines], process.env, kubernetes);
    if (!binaries.ok) throw new Error(binaries.reason);
    const images = await this.#images;
    const added: RealNode[] = [];
    for (let i = 0; i < count; i++) {
      const node = new RealNode({
        cluster: this.cluster,
        supervision: this.#supervision,
        machine: await network.addNode(`${name}-n${this.#nodes.length + 1}`),
        clusterCidr,
        clusterDns: serviceIp(serviceCidr, 10),
        times,
        images,
        paths: binaries.paths,
        calico,
      });
      this.#nodes.push(node);
      added.push(node);
    }
    await Promise.all(added.map((node) => this.#bringUp(node)));
    return added;
  }

  /** Gives a machine of another cluster routes to the Pods, also those of later nodes: its server answers them. */
  async addCaller(machine: NetworkNode): Promise<void> {
    this.#callers.push(machine);
    for (const node of this.#nodes) await addRoute(machine, await node.podCidr(), node);
  }

  /** Removes everything except the network. Idempotent. */
  async stop(): Promise<void> {
    await this.#supervision.stop();
    await this.cluster.stop();
  }

  async #bringUp(node: RealNode): Promise<void> {
    const { network, name } = this.#options;
    const controlPlane = network.node(name);
    // A packet to a Service needs a route before kube-proxy's rules apply to it.
    await node.machine.run('ip', ['route', 'add', 'default', 'via', controlPlane.ipv4]);
    await node.start();
    const podCidr = await node.podCidr();
    const others = this.#nodes.filter((each) => each !== node).map(({ machine }) => machine);
    for (const machine of [controlPlane, ...others, ...this.#callers]) await addRoute(machine, podCidr, node);
    if (this.#options.calico !== undefined) {
      await this.cluster.admin.create('/apis/crd.projectcalico.org/v1/ippools', nodePool(node.name, podCidr));
    }
    await node.configurePods(podCidr);
    await node.ready();
  }
}

async function addRoute(machine: NetworkNode, podCidr: string, node: RealNode): Promise<void> {
  await machine.run('ip', ['route', 'add', podCidr, 'via', node.machine.ipv4]);
}
