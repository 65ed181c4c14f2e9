import { eventually } from '@kube-semaphore/eventually';
import type { RunningPod } from '@kube-semaphore/testkit';
import { type Network, startNetwork } from '@kube-semaphore/testnet';
import { Calls } from './calls.ts';
import { callerPod, SHOP } from './shop-manifests.ts';
import { Shop } from './shop.ts';
import { Side } from './side.ts';

/** The name of c2's Service for Pods of c1. */
export const WEB_URL = `http://web.${SHOP}.svc.cluster.c2/`;

/** Its mirror. */
const MIRROR = `c2-${SHOP}-73736d-web`;

const REPLICAS = 3;

/** Two clusters with kube-semaphore between them, without stand-ins: see docs/system.md. */
export class System {
  readonly network: Network;
  readonly c1: Side;
  readonly c2: Side;

  private constructor(network: Network, c1: Side, c2: Side) {
    this.network = network;
    this.c1 = c1;
    this.c2 = c2;
  }

  /** Starts a cluster with one node and one with two; installs nothing. Needs root. */
  static async start(): Promise<System> {
    const network = await startNetwork();
    const sides = await Promise.allSettled(['c1', 'c2'].map((name) => Side.start(name, network)));
    const [c1, c2] = sides.map((side) => (side.status === 'fulfilled' ? side.value : undefined));
    if (c1 === undefined || c2 === undefined) {
      await Promise.all([network.stop(), c1?.stop(), c2?.stop()]);
      throw new Error('a cluster did not start', { cause: sides.find(({ status }) => status === 'rejected') });
    }
    const system = new System(network, c1, c2);
    try {
      await Promise.all([c1.build(c2, 1), c2.build(c1, 2)]);
      return system;
    } catch (error) {
      await system.stop();
      throw error;
    }
  }

  /** Installs kube-semaphore in both clusters from their manifests. Resolves when all Pods are ready. */
  async install(): Promise<void> {
    const { c1, c2 } = this;
    await Promise.all([c1.apply(c2), c2.apply(c1)]);
    await Promise.all([c1.install(c2), c2.install(c1)]);
  }

  /** Deploys the app in c2, and waits until c1 has mirrored all its Pods. */
  async openShop(): Promise<Shop> {
    const shop = await Shop.start(this.c2, REPLICAS);
    await this.mirrored(shop.pods);
    return shop;
  }

  /** Waits until the mirror in c1 has exactly these Pods ready. */
  async mirrored(pods: readonly RunningPod[]): Promise<void> {
    const wanted = pods
      .flatMap(({ ips }) => ips)
      .toSorted()
      .join(' ');
    const path = `/apis/discovery.k8s.io/v1/namespaces/sys-semaphore/endpointslices?labelSelector=kubernetes.io/service-name=${MIRROR}`;
    await eventually(
      async () => {
        const slices = (await this.c1.cluster.admin.list(path)) as unknown as readonly {
          readonly endpoints?: readonly Endpoint[] | null;
        }[];
        const ready = slices
          .flatMap(({ endpoints }) => endpoints ?? [])
          .filter(({ conditions }) => conditions?.ready !== false);
        return (
          ready
            .flatMap(({ addresses }) => addresses)
            .toSorted()
            .join(' ') === wanted
        );
      },
      true,
      { what: `a mirror with ${wanted}` },
    );
  }

  /** Starts a Pod in c1 that calls the app of c2 twenty times a second. */
  async startCaller(): Promise<{ readonly caller: RunningPod; readonly calls: Calls }> {
    const [node] = this.c1.nodes;
    if (node === undefined) throw new Error('c1 has no node');
    const caller = await node.kubelet.run(callerPod(node.name, WEB_URL));
    await caller.ready();
    const container = caller.container('caller');
    return { caller, calls: new Calls(() => container.output) };
  }

  /** The addresses of a set in c2; undefined if there is no such set. */
  async netsOf(set: string): Promise<readonly string[] | undefined> {
    const { status, body } = await this.c2.cluster.admin.request(
      'GET',
      `/apis/crd.projectcalico.org/v1/globalnetworksets/${set}`,
    );
    return status === 200 ? (body['spec'] as { nets: readonly string[] }).nets : undefined;
  }

  /** The logs of kube-semaphore in both clusters. */
  get logs(): string {
    return [this.c1, this.c2].map(({ logs }) => logs).join('\n');
  }

  /** Stops both clusters, and leaves nothing behind. */
  async stop(): Promise<void> {
    for (const side of [this.c1, this.c2]) side.abandon();
    await this.network.stop();
    await Promise.all([this.c1.stop(), this.c2.stop()]);
  }
}

type Endpoint = { readonly addresses: readonly string[]; readonly conditions?: { readonly ready?: boolean } };
