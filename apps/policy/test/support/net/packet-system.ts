import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { startEmbeddedCluster, type TestClient } from '@kube-semaphore/embedded-apiserver';
import { type FaultProxy, startFaultProxy } from '@kube-semaphore/fault-proxy';
import { calicoLink, policyEngines, prepareCalico } from '@kube-semaphore/real-nodes';
import {
  createPod,
  deletePod,
  deployAccount,
  deployPolicies,
  node as nodeObject,
  type RealCluster,
  startRealCluster,
} from '@kube-semaphore/testkit';
import { type NetworkNode, type Place, startNetwork } from '@kube-semaphore/testnet';
import { folders } from '../accounts.ts';
import { type PolicyProcess, spawnPolicy } from '../policy-process.ts';
import { connections, connectRepeatedly, listen, type Target } from './connections.ts';
import { cidrsOf, ipsOf, type Labels, podObject, type PodSpec } from './pods.ts';

export type Engine = keyof typeof policyEngines;

const remotes = ['c2', 'c3'] as const;
type Remote = (typeof remotes)[number];

/** A flow: from and to are `pod` for one of c1, `cluster/namespace/pod` for another. */
export type Flow = readonly [from: string, to: string, port: number];

export const textOf = ([from, to, port]: Flow): string => `${from} -> ${to}:${port}`;

/** Flows of each engine's node, as sorted texts. `IPv4 only`: not by IPv6. */
type FlowTexts = Readonly<Record<string, readonly string[]>>;

type PacketSystemOptions = {
  readonly engines: readonly Engine[];
  /** Pods of c1, on each node. */
  readonly localPods: Readonly<Record<string, PodSpec & { readonly namespace: string }>>;
  /** Pods of c2 and c3, as `namespace/name`. */
  readonly remotePods: Readonly<Record<Remote, Readonly<Record<string, PodSpec>>>>;
  /** Labels of their namespaces. */
  readonly remoteNamespaces?: Readonly<Record<string, Labels>>;
  /** Folders of deploy/ with rights of semaphore-policy, beside the bases. */
  readonly components?: { readonly local: readonly string[]; readonly remote: readonly string[] };
};

/**
 * Real engines enforce policies of c1 on packets. Each engine has a node of c1, and on it the same Pods. Pods of c2 and c3 are
 * elsewhere, so an engine knows them by their addresses only, which semaphore-policy writes.
 */
export class PacketSystem {
  cluster!: RealCluster;
  /** Between semaphore-policy and c2. */
  proxy!: FaultProxy;
  controller!: PolicyProcess;
  readonly #options: PacketSystemOptions;
  /** By `engine/pod` of c1 and `cluster/namespace/pod` of the others. */
  readonly #places = new Map<string, Place>();
  readonly #remotes = new Map<Remote, TestClient>();
  readonly #stops: (() => Promise<unknown>)[] = [];
  /** Of the controller. */
  #config = '';

  constructor(options: PacketSystemOptions) {
    this.#options = options;
  }

  /** Starts all but semaphore-policy. */
  async start(): Promise<void> {
    const { engines, localPods, components } = this.#options;
    const network = await startNetwork();
    this.#stops.unshift(() => network.stop());
    const cluster = await startRealCluster({ name: 'c1', controllerManager: true });
    this.cluster = cluster;
    this.#stops.unshift(() => cluster.stop());
    await prepareCalico(cluster);
    await addNamespaces(
      cluster.admin,
      Object.values(localPods).map(({ namespace }) => namespace),
    );
    const nodes = new Map<Engine | Remote, NetworkNode>();
    for (const name of [...engines, ...remotes]) nodes.set(name, await network.addNode(name.slice(0, 12)));
    await route(nodes);
    const kubeconfigs = {
      c2: await this.#startRemote('c2', nodes.get('c2')!),
      c3: await this.#startRemote('c3', nodes.get('c3')!),
    };
    await Promise.all(engines.map((engine) => this.#startNode(engine, nodes.get(engine)!)));
    const local = await deployAccount(cluster, folders.local, ...(components?.local ?? []));
    await deployPolicies(cluster, folders.local);
    this.#config = join(cluster.dir, 'policy.json');
    const entries = remotes.map((name) => {
      return { name, kubeConfigPath: kubeconfigs[name], allowedPodCIDRs: cidrsOf(name) };
    });
    const config = { local: { kubeConfigPath: local.kubeconfig }, remotes: entries };
    await writeFile(this.#config, JSON.stringify(config));
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops) await stop();
  }

  /** Starts semaphore-policy of c1. */
  async startController(...flags: readonly string[]): Promise<void> {
    const controller = spawnPolicy([`-config=${this.#config}`, '-listen-address=127.0.0.1:0', ...flags]);
    this.controller = controller;
    this.#stops.unshift(() => controller.stop('SIGKILL'));
    await controller.ready();
  }

  async addRemotePod(remote: Remote, pod: string): Promise<void> {
    await createPod(this.#remotes.get(remote)!, podObject(remote, pod, this.#options.remotePods[remote][pod]!));
  }

  /** Its place stays, and with it its address. */
  async removeRemotePod(remote: Remote, pod: string): Promise<void> {
    const [namespace = '', name = ''] = pod.split('/');
    await deletePod(this.#remotes.get(remote)!, { namespace, name });
  }

  /** The flows that are possible on the node of each engine. */
  openAmong(flows: readonly Flow[], on: readonly Engine[] = this.#options.engines): Promise<FlowTexts> {
    return this.#open(flows, on, (callers) =>
      Promise.all(callers.map(({ from, targets }) => connections(from, targets))),
    );
  }

  /** The flows that are possible all the time while a change is under way. */
  openThroughout(
    flows: readonly Flow[],
    change: () => Promise<void>,
    on: readonly Engine[] = this.#options.engines,
  ): Promise<FlowTexts> {
    return this.#open(flows, on, async (callers) => {
      const running = await Promise.all(callers.map(({ from, targets }) => connectRepeatedly(from, targets)));
      const stop = () => Promise.all(running.map((caller) => caller.stop()));
      await change().catch(async (error: unknown) => {
        await stop();
        throw error;
      });
      return stop();
    });
  }

  /** What `openAmong` and `openThroughout` return when exactly these flows are possible. */
  everywhere(flows: readonly Flow[], on: readonly Engine[] = this.#options.engines): FlowTexts {
    return Object.fromEntries(on.map((engine) => [engine, flows.map(textOf).toSorted()]));
  }

  /** One caller for each Pod: those of other clusters call all nodes. */
  async #open(
    flows: readonly Flow[],
    on: readonly Engine[],
    call: (callers: readonly Caller[]) => Promise<readonly (readonly boolean[])[]>,
  ): Promise<FlowTexts> {
    const attempts = on.flatMap((engine) => flows.map((flow) => ({ engine, flow })));
    const groups = Array.from(Map.groupBy(attempts, ({ engine, flow: [from] }) => this.#placeOf(engine, from)));
    const answers = await call(
      groups.map(([from, its]) => {
        const targets = its.flatMap(({ engine, flow: [, to, port] }) =>
          this.#addressesOf(engine, to).map((ip) => [ip, port, refusalsOf(engine)] as const),
        );
        return { from, targets };
      }),
    );
    const open = new Map(on.map((engine) => [engine, [] as string[]]));
    for (const [group, [, its]] of groups.entries())
      for (const [i, { engine, flow }] of its.entries()) {
        const [v4 = false, v6 = false] = answers[group]!.slice(2 * i, 2 * i + 2);
        if (v4 || v6) open.get(engine)!.push(`${textOf(flow)}${v4 && v6 ? '' : v4 ? ' IPv4 only' : ' IPv6 only'}`);
      }
    return Object.fromEntries(Array.from(open, ([engine, texts]) => [engine, texts.toSorted()]));
  }

  #placeOf(engine: Engine, pod: string): Place {
    return this.#places.get(pod.includes('/') ? pod : `${engine}/${pod}`)!;
  }

  #addressesOf(engine: Engine, pod: string): readonly string[] {
    const { localPods, remotePods } = this.#options;
    if (!pod.includes('/')) return ipsOf(engine, localPods[pod]!.host);
    const [remote, ...name] = pod.split('/');
    return ipsOf(remote as Remote, remotePods[remote as Remote][name.join('/')]!.host);
  }

  /** The API server of a remote, with its Pods. @returns the kubeconfig for semaphore-policy */
  async #startRemote(name: Remote, node: NetworkNode): Promise<string> {
    const { remotePods, remoteNamespaces, components } = this.#options;
    const remote = await startEmbeddedCluster({ name });
    this.#stops.unshift(() => remote.stop());
    this.#remotes.set(name, remote.admin);
    const pods = Object.entries(remotePods[name]);
    await addNamespaces(
      remote.admin,
      pods.map(([pod]) => pod.split('/')[0]!),
      remoteNamespaces,
    );
    for (const [pod, { host, ports = [], comesLater }] of pods) {
      const place = await node.addPod(ipsOf(name, host));
      this.#places.set(`${name}/${pod}`, place);
      if (ports.length > 0) await listen(place, ports);
      if (comesLater !== true) await this.addRemotePod(name, pod);
    }
    const account = await deployAccount(remote, folders.remote, ...(components?.remote ?? []));
    if (name !== 'c2') return account.kubeconfig;
    const proxy = await startFaultProxy(remote);
    this.proxy = proxy;
    this.#stops.unshift(() => proxy.stop());
    return proxy.kubeconfig(account);
  }

  /** A node of c1 with its Pods and an engine. */
  async #startNode(engine: Engine, node: NetworkNode): Promise<void> {
    const { admin, url } = this.cluster;
    // Felix lets the node answer ARP for the gateway of its Pods, which the kernel does only for addresses that have a route.
    await node.run('ip', ['route', 'add', 'default', 'dev', 'eth0']);
    await node.forward(Number(new URL(url).port));
    await admin.create('/api/v1/nodes', nodeObject({ name: node.name, internalIPs: [node.ipv4, node.ipv6] }));
    for (const [pod, spec] of Object.entries(this.#options.localPods)) {
      const { namespace, host, ports = [] } = spec;
      const name = `${pod}-${engine}`;
      const object = podObject(engine, `${namespace}/${name}`, spec);
      const place = await node.addPod(ipsOf(engine, host), calicoLink(namespace, name));
      this.#places.set(`${engine}/${pod}`, place);
      if (ports.length > 0) await listen(place, ports);
      await createPod(admin, { ...object, spec: { ...(object['spec'] as object), nodeName: node.name } });
    }
    const running = await policyEngines[engine]({ cluster: this.cluster, node });
    this.#stops.unshift(() => running.stop());
  }
}

type Caller = { readonly from: Place; readonly targets: readonly Target[] };

/**
 * kube-network-policies loses packets that wait for its verdict when it writes its rules, which it tries each second on a kernel
 * without nft_queue.
 */
const refusalsOf = (engine: Engine): number => (engine === 'kube-network-policies' ? 2 : 1);

async function addNamespaces(
  admin: TestClient,
  names: readonly string[],
  labels: Readonly<Record<string, Labels>> = {},
): Promise<void> {
  for (const name of new Set(names))
    await admin.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels: { ...labels[name] } },
    });
}

/** Routes the Pods of all nodes to each other. */
async function route(nodes: ReadonlyMap<Engine | Remote, NetworkNode>): Promise<void> {
  for (const [name, node] of nodes)
    for (const [other, { ipv4, ipv6 }] of nodes) {
      if (other === name) continue;
      const [v4, v6] = cidrsOf(other);
      await node.run('ip', ['route', 'add', v4, 'via', ipv4]);
      await node.run('ip', ['-6', 'route', 'add', v6, 'via', ipv6]);
    }
}
