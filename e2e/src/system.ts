import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import type { RealNode } from '@kube-semaphore/real-nodes';
import { kubectlFolder, type Kubernetes } from '@kube-semaphore/testkit';
import { type Network, startNetwork } from '@kube-semaphore/testnet';
import type { Calls } from './calls.ts';
import { callerPod, SHOP } from './shop-manifests.ts';
import { Shop } from './shop.ts';
import { type Pod, podRanges, Side } from './side.ts';

/** The name of c2's Service for Pods of c1. */
export const WEB_URL = `http://web.${SHOP}.svc.cluster.c2/`;

/** Its mirror. */
const MIRROR = `c2-${SHOP}-73736d-web`;

const REPLICAS = 3;

const launcher = fileURLToPath(new URL('../../apps/cli/bin/semaphore.js', import.meta.url));

/** A Pod of c1 that calls the app of c2. */
export type Caller = { readonly node: RealNode; readonly ip: string; readonly calls: Calls };

type SystemOptions = {
  /** How many each cluster has. Default 2. */
  readonly nodes?: number;
  /** Names in podman's store, of images that all nodes get besides their own. */
  readonly images?: readonly string[];
  /** The version of c2. Default `kubernetes`. */
  readonly c2Kubernetes?: Kubernetes | undefined;
};

/** Two clusters with kube-semaphore between them, on real nodes: see docs/system.md. */
export class System {
  readonly network: Network;
  readonly c1: Side;
  readonly c2: Side;

  private constructor(network: Network, c1: Side, c2: Side) {
    this.network = network;
    this.c1 = c1;
    this.c2 = c2;
  }

  /** Starts two clusters; installs nothing. Needs root. */
  static async start({ nodes = 2, images = [], c2Kubernetes }: SystemOptions = {}): Promise<System> {
    const network = await startNetwork();
    const sides = await Promise.allSettled([
      Side.start('c1', network, images),
      Side.start('c2', network, images, c2Kubernetes),
    ]);
    const [c1, c2] = sides.map((side) => (side.status === 'fulfilled' ? side.value : undefined));
    if (c1 === undefined || c2 === undefined) {
      await Promise.all([network.stop(), c1?.stop(), c2?.stop()]);
      throw new Error('a cluster did not start', { cause: sides.find(({ status }) => status === 'rejected') });
    }
    const system = new System(network, c1, c2);
    try {
      await Promise.all([c1.build(nodes), c2.build(nodes)]);
      return system;
    } catch (error) {
      await system.stop();
      throw error;
    }
  }

  /** Installs kube-semaphore in both clusters, by `semaphore link`. Resolves when all Pods are ready. */
  async install(): Promise<void> {
    const { c1, c2 } = this;
    const answers = (['c1', 'c2'] as const).flatMap((name) => [
      `--server=${name}=${this[name].cluster.internalUrl}`,
      `--pod-cidr=${name}=${podRanges[name]}`,
    ]);
    const flags = ['--apply', '--userspace', '--shared-service-cidrs', ...answers];
    await this.semaphore('link', '--output', join(c1.cluster.dir, 'overlays'), ...flags);
    await Promise.all([c1.ready(), c2.ready()]);
  }

  /** Runs a command of `semaphore` on both clusters. @returns what it prints @throws {Error} unless it ends with 0 */
  async semaphore(command: string, ...flags: readonly string[]): Promise<string> {
    const clusters = [this.c1.cluster, this.c2.cluster];
    const env = {
      PATH: [kubectlFolder, process.env['PATH']].join(delimiter),
      HOME: '/nonexistent',
      KUBECONFIG: clusters.map(({ adminKubeconfig }) => adminKubeconfig).join(delimiter),
    };
    const args = [launcher, command, ...clusters.map(({ name }) => `--context=${name}`), ...flags];
    return (await promisify(execFile)(process.execPath, args, { env })).stdout;
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
      { what: 'a mirror with the ready Pods', timeoutMs: 60_000, intervalMs: 100 },
    );
  }

  /** Starts a Pod in c1 that calls the app of c2 twenty times a second, on a node without the leader of service-mirror. */
  async startCaller(): Promise<Caller> {
    const { c1 } = this;
    const leading = await eventually(() => c1.mirrorLeader(), isDefined, { what: 'a leader' });
    const node = c1.nodes.find((each) => each !== leading);
    if (node === undefined) throw new Error('c1 has no other node');
    await c1.apply([callerPod(node.name, WEB_URL)]);
    await c1.kubectl(`-n ${SHOP} wait --for=condition=Ready pod/checkout-0 --timeout=60s`);
    const pod = (await c1.cluster.admin.get(`/api/v1/namespaces/${SHOP}/pods/checkout-0`)) as unknown as Pod;
    return { node, ip: pod.status.podIP ?? '', calls: c1.callsOf(pod) };
  }

  /** The logs of kube-semaphore in both clusters. */
  async logs(): Promise<string> {
    return (await Promise.all([this.c1, this.c2].map((side) => side.logs()))).join('\n');
  }

  /** Stops both clusters, and leaves nothing behind. */
  async stop(): Promise<void> {
    await Promise.all([this.c1.stop(), this.c2.stop()]);
    await this.network.stop();
  }
}

type Slice = { readonly endpoints?: readonly Endpoint[] | null };

type Endpoint = { readonly addresses: readonly string[]; readonly conditions?: { readonly ready?: boolean } };
