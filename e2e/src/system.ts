import { join } from 'node:path';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import type { ImageSource, RealNode } from '@kube-semaphore/real-nodes';
import type { Kubernetes } from '@kube-semaphore/testkit';
import { type Network, startNetwork } from '@kube-semaphore/testnet';
import type { Calls } from './calls/calls.ts';
import { semaphore } from './semaphore.ts';
import { type CallerOptions, callerPod, SHOP } from './shop-manifests.ts';
import { Shop } from './shop.ts';
import { type ClusterName, type Pod, podRanges, Side } from './side.ts';

/** The name of c2's Service for Pods of c1. */
export const WEB_URL = `http://web.${SHOP}.svc.cluster.c2/`;

/** Its mirror. */
const MIRROR = `c2-${SHOP}-73736d-web`;

const REPLICAS = 3;

/** A Pod of c1 that calls an app. */
export type Caller = { readonly node: RealNode; readonly ip: string; readonly calls: Calls };

type SystemOptions = {
  /** Default c1 and c2. */
  readonly clusters?: readonly ClusterName[];
  /** How many each cluster has. Default 2. */
  readonly nodes?: number;
  /** Of a registry of this machine that nodes reach as localhost, too. They don't get the images of the apps. */
  readonly registryPort?: number | undefined;
  /** Images that all nodes get besides their own. */
  readonly images?: readonly ImageSource[];
  /** The version of c2. Default `kubernetes`. */
  readonly c2Kubernetes?: Kubernetes | undefined;
  /** When a node counts as lost that doesn't report. Default 20: enough for a busy machine. Kubernetes has 50. */
  readonly lossSeconds?: number;
};

/** Clusters with kube-semaphore between them, on real nodes: see docs/system.md. */
export class System {
  readonly network: Network;
  readonly sides: readonly Side[];

  private constructor(network: Network, sides: readonly Side[]) {
    this.network = network;
    this.sides = sides;
  }

  /** Starts clusters; installs nothing. Needs root. */
  static async start({
    clusters = ['c1', 'c2'],
    nodes = 2,
    registryPort,
    images = [],
    c2Kubernetes,
    lossSeconds = 20,
  }: SystemOptions = {}) {
    const network = await startNetwork();
    const started = await Promise.allSettled(
      clusters.map((name) =>
        Side.start(name, network, {
          images,
          registryPort,
          kubernetes: name === 'c2' ? c2Kubernetes : undefined,
          lossSeconds,
        }),
      ),
    );
    const system = new System(
      network,
      started.flatMap((side) => (side.status === 'fulfilled' ? [side.value] : [])),
    );
    try {
      const failed = started.find(({ status }) => status === 'rejected');
      if (failed !== undefined) throw new Error('a cluster did not start', { cause: failed });
      await Promise.all(system.sides.map((side) => side.build(nodes)));
      return system;
    } catch (error) {
      await system.stop();
      throw error;
    }
  }

  get c1(): Side {
    return this.side('c1');
  }

  get c2(): Side {
    return this.side('c2');
  }

  /** The cluster with this name. @throws {Error} if the system has no such cluster */
  side(name: ClusterName): Side {
    const found = this.sides.find((side) => side.name === name);
    if (found === undefined) throw new Error(`there is no cluster ${name}`);
    return found;
  }

  /** What `semaphore link` doesn't find out here, and that the kernel may have no WireGuard. */
  get linkFlags(): readonly string[] {
    return linkFlagsFor(this.sides);
  }

  /** The folder of the overlays that `semaphore link` writes. */
  get overlays(): string {
    return join(this.c1.cluster.dir, 'overlays');
  }

  /** Installs kube-semaphore in these clusters, or all, by `semaphore link`. Resolves when all Pods are ready. */
  async install(sides: readonly Side[] = this.sides): Promise<void> {
    await semaphore(sides, 'link', '--output', this.overlays, '--apply', ...linkFlagsFor(sides));
    await Promise.all(sides.map((side) => side.ready()));
  }

  /** Runs a command of `semaphore` on all clusters. @returns what it prints @throws {Error} unless it ends with 0 */
  semaphore(command: string, ...flags: readonly string[]): Promise<string> {
    return semaphore(this.sides, command, ...flags);
  }

  /** Deploys the app in c2, and waits until c1 has mirrored all its Pods. */
  async openShop(): Promise<Shop> {
    const shop = await Shop.start(this.c2, REPLICAS);
    await this.mirrored(shop);
    return shop;
  }

  /** Waits until the mirror in c1 has exactly the ready Pods of the shop. */
  async mirrored(shop: Shop): Promise<void> {
    const path = `/apis/discovery.k8s.io/v1/namespaces/sys-semaphore/endpointslices?labelSelector=kubernetes.io/service-name=${MIRROR}`;
    await eventually(
      async () => {
        const slices = (await this.c1.cluster.admin.list(path)) as unknown as readonly Slice[];
        const mirrored = slices
          .flatMap(({ endpoints }) => endpoints ?? [])
          .filter(({ conditions }) => conditions?.ready !== false)
          .flatMap(({ addresses }) => addresses)
          .toSorted();
        return { mirrored, ready: await shop.readyIps() };
      },
      ({ mirrored, ready }) => mirrored.join(' ') === ready.join(' '),
      { what: 'a mirror with the ready Pods', intervalMs: 100 },
    );
  }

  /**
   * Starts a Pod in c1 that calls the app of c2 twenty times a second, on a node without the leader of service-mirror.
   *
   * @param timeoutMs of a call; by default, the first packet is sent three times (TCP: after one and three seconds)
   */
  async startCaller(timeoutMs = 5_000): Promise<Caller> {
    const { c1 } = this;
    const leading = await eventually(() => c1.mirrorLeader(), isDefined, { what: 'a leader' });
    const node = c1.nodes.find((each) => each !== leading);
    if (node === undefined) throw new Error('c1 has no other node');
    return this.startCallerOn(node, { url: WEB_URL, intervalMs: 50, timeoutMs });
  }

  /** Starts a Pod on a node of c1 that calls a URL. */
  async startCallerOn(node: RealNode, options: CallerOptions): Promise<Caller> {
    const { c1 } = this;
    await c1.apply([callerPod(node.name, options)]);
    await c1.kubectl(`-n ${SHOP} wait --for=condition=Ready pod/checkout-0 --timeout=10m`);
    const pod = (await c1.cluster.admin.get(`/api/v1/namespaces/${SHOP}/pods/checkout-0`)) as unknown as Pod;
    return { node, ip: pod.status.podIP ?? '', calls: c1.callsOf(pod) };
  }

  /** The logs of kube-semaphore in all clusters. */
  async logs(): Promise<string> {
    return (await Promise.all(this.sides.map((side) => side.logs()))).join('\n');
  }

  /** Stops all clusters, and leaves nothing behind. */
  async stop(): Promise<void> {
    await Promise.all(this.sides.map((side) => side.stop()));
    await this.network.stop();
  }
}

const linkFlagsFor = (sides: readonly Side[]): readonly string[] => [
  '--userspace',
  '--shared-service-cidrs',
  ...sides.flatMap(({ name, cluster }) => [
    `--server=${name}=${cluster.internalUrl}`,
    `--pod-cidr=${name}=${podRanges[name]}`,
  ]),
];

type Slice = { readonly endpoints?: readonly Endpoint[] | null };

type Endpoint = { readonly addresses: readonly string[]; readonly conditions?: { readonly ready?: boolean } };
