import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startEmbeddedCluster, type TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { findBinaries, node as nodeObject, startRealCluster } from '@kube-semaphore/testkit';
import { type Network, type NetworkNode, type Place, startNetwork } from '@kube-semaphore/testnet';
import { runTool, systemTools, type WireGuardTools } from '@kube-semaphore/wireguard-tools';
import { type Accounts, createAccounts } from './accounts.ts';
import { type Agent, type AgentFlags, spawnAgent } from './agent-process.ts';

/** What a remote's entry in a config file says besides what all of them say. */
export type RemoteFields = Readonly<Record<string, unknown>>;

/** A node of a cluster: a machine on the network, a Node object, and a pod. */
export type MeshNode = {
  readonly name: string;
  readonly cluster: MeshCluster;
  readonly machine: NetworkNode;
  /** Its pod, and the addresses of that. */
  readonly pod: Place;
  readonly podIps: { readonly v4: string; readonly v6: string };
  readonly podCidrs: readonly [v4: string, v6: string];
  /** `-wg-key-path` of its agent. */
  readonly keyFolder: string;
  /** `wg` and `ip` as they are on it. */
  readonly tools: WireGuardTools;
};

/** A cluster of the mesh: an API server, and the ranges of its pods. */
export type MeshCluster = {
  readonly name: string;
  readonly server: TestCluster;
  readonly accounts: Accounts;
  readonly podSubnets: readonly [v4: string, v6: string];
  readonly nodes: readonly MeshNode[];
};

/** How many nodes each cluster begins with, by its name: `{ c1: 1, c2: 1 }`. */
export type MeshShape = Readonly<Record<string, number>>;

/** How an agent differs from the usual. */
export type AgentOptions = {
  readonly flags?: AgentFlags;
  /** Of the entry of a remote, by its name; null leaves the remote out. */
  readonly remotes?: Readonly<Record<string, RemoteFields | null>>;
  readonly word?: string;
  /** Variables besides a PATH on which wireguard-go is, or another PATH. */
  readonly env?: Readonly<Record<string, string>>;
  /** Which it is started by: a program and its arguments, which the command line of the agent follows. */
  readonly starter?: readonly [file: string, ...args: string[]];
};

/**
 * Clusters whose nodes are machines of one network: API servers with Node objects, which the machines reach, pods behind
 * them, and agents as processes. Node `n<i>` of cluster `c<k>` has the pods `10.<k>.<i>.0/24` and `fd00:<k>:0:<i>::/64`.
 */
export class Mesh {
  readonly network: Network;
  readonly dir: string;
  readonly #clusters = new Map<string, MeshCluster & { readonly nodes: MeshNode[] }>();
  readonly #agents = new Map<MeshNode, Agent[]>();

  private constructor(network: Network, dir: string) {
    this.network = network;
    this.dir = dir;
  }

  /** @param realServers clusters whose API server is a real one; the others' are embedded */
  static async start(shape: MeshShape, realServers: readonly string[] = []): Promise<Mesh> {
    const mesh = new Mesh(await startNetwork(), await mkdtemp(join(tmpdir(), 'mesh-')));
    try {
      for (const name of Object.keys(shape))
        await mesh.#addCluster(name, realServers.includes(name) ? startRealCluster : startEmbeddedCluster);
      for (const [name, count] of Object.entries(shape)) for (let i = 0; i < count; i++) await mesh.addNode(name);
      return mesh;
    } catch (error) {
      await mesh.stop();
      throw error;
    }
  }

  /** @throws {Error} if there is no such cluster */
  cluster(name: string): MeshCluster {
    const cluster = this.#clusters.get(name);
    if (cluster === undefined) throw new Error(`no cluster ${name}`);
    return cluster;
  }

  /** The nodes of all clusters. */
  get nodes(): readonly MeshNode[] {
    return [...this.#clusters.values()].flatMap(({ nodes }) => nodes);
  }

  /** Adds a machine with a pod, and its Node; no agent. */
  async addNode(clusterName: string): Promise<MeshNode> {
    const cluster = this.#clusters.get(clusterName);
    if (cluster === undefined) throw new Error(`no cluster ${clusterName}`);
    const [k, i] = [numberOf(clusterName), cluster.nodes.length + 1];
    const name = `n${i}`;
    const machine = await this.network.addNode(`${clusterName}-${name}`);
    // Each API server listens on 127.0.0.1 out here.
    for (const { server } of this.#clusters.values()) await machine.forward(Number(new URL(server.url).port));
    const podCidrs = [`10.${k}.${i}.0/24`, `fd00:${k}:0:${i}::/64`] as const;
    const podIps = { v4: `10.${k}.${i}.10`, v6: `fd00:${k}:0:${i}::10` };
    const node: MeshNode = {
      name,
      cluster,
      machine,
      pod: await machine.addPod([podIps.v4, podIps.v6]),
      podIps,
      podCidrs,
      keyFolder: join(this.dir, `${clusterName}-${name}`),
      tools: systemTools((file, args, options) => runTool(...machine.commandLine(file, args), options)),
    };
    cluster.nodes.push(node);
    const object = nodeObject({ name, podCIDRs: podCidrs, internalIPs: [machine.ipv4, machine.ipv6] });
    await cluster.server.admin.create('/api/v1/nodes', object);
    return node;
  }

  /** Starts the agent of a node, for all other clusters; `ready()` waits for its devices. */
  async startAgent(node: MeshNode, { flags, remotes = {}, word, env, starter }: AgentOptions = {}): Promise<Agent> {
    const { name, machine, cluster, keyFolder } = node;
    const file = join(this.dir, `${cluster.name}-${name}.json`);
    await writeFile(file, JSON.stringify(this.#config(cluster, remotes)));
    const usual = {
      'clusters-config': file,
      'node-name': name,
      'wg-key-path': keyFolder,
      'listen-address': '127.0.0.1:7773',
      'log-level': 'debug',
    };
    const agent = spawnAgent(
      { ...usual, ...flags },
      {
        place: starter === undefined ? machine : startedBy(machine, starter),
        env: { PATH: `${dirname(wireGuardGo())}:${process.env['PATH']}`, ...env },
        ...(word !== undefined && { word }),
      },
    );
    this.#agents.set(node, [...(this.#agents.get(node) ?? []), agent]);
    return agent;
  }

  /** The agent of a node that was started last. @throws {Error} if none was */
  agent(node: MeshNode): Agent {
    const agent = this.#agents.get(node)?.at(-1);
    if (agent === undefined) throw new Error(`no agent was started on ${node.cluster.name}-${node.name}`);
    return agent;
  }

  /**
   * Resolves when the first agent of each node has made all nodes of the other clusters its peers, and said so: it may be ready
   * before it is announced, and says what it has changed afterwards.
   */
  async complete(): Promise<void> {
    const options = { signal: new AbortController().signal };
    for (const node of this.nodes) {
      const { name, cluster, tools } = node;
      const isTold = (key: string): boolean =>
        this.agent(node)
          .log()
          .some(({ msg, peer }) => msg === 'peer changed' && peer === key);
      for (const other of this.#clusters.values()) {
        const isThere = async () => {
          const peers = (await tools.device(`wireguard.${other.name}`, options))?.peers ?? [];
          return peers.length === other.nodes.length && peers.every(({ publicKey }) => isTold(publicKey));
        };
        if (other !== cluster)
          await eventually(isThere, true, { what: `the nodes of ${other.name} on ${cluster.name}-${name}` });
      }
    }
  }

  /** What all agents that were started have written to stderr, for the report of a test that failed. */
  logs(): string {
    return [...this.#agents]
      .flatMap(([{ name, cluster }, agents]) => agents.map(({ stderr }) => `${cluster.name}-${name}:\n${stderr()}`))
      .join('\n');
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#agents.values()].flat().map((agent) => agent.stop('SIGKILL')));
    await this.network.stop();
    await Promise.all([...this.#clusters.values()].map(({ server }) => server.stop()));
    await rm(this.dir, { recursive: true });
  }

  async #addCluster(
    name: string,
    startServer: (options: { readonly name: string }) => Promise<TestCluster>,
  ): Promise<void> {
    const server = await startServer({ name });
    const k = numberOf(name);
    this.#clusters.set(name, {
      name,
      server,
      accounts: await createAccounts(server),
      podSubnets: [`10.${k}.0.0/16`, `fd00:${k}::/48`],
      nodes: [],
    });
  }

  #config(local: MeshCluster, more: Readonly<Record<string, RemoteFields | null>>): object {
    const others = [...this.#clusters.values()].filter(({ name }) => name !== local.name && more[name] !== null);
    return {
      local: { name: local.name, kubeConfigPath: local.accounts.agent.kubeconfig },
      remotes: others.map(({ name, accounts, podSubnets }) => ({
        name,
        kubeConfigPath: accounts.reader.kubeconfig,
        podSubnet: podSubnets,
        // Both ends may differ: the port is the remote's number, and says so.
        wgListenPort: 51_820 + numberOf(name),
        wgDeviceMTU: 1380,
        ...more[name],
      })),
    };
  }
}

/** A place where every program is started by another. */
function startedBy(place: Place, [starter, ...starterArgs]: readonly [string, ...string[]]): Place {
  return {
    run: (...call) => place.run(...call),
    spawn: (...call) => place.spawn(...call),
    commandLine: (file, args, cwd) => place.commandLine(starter, [...starterArgs, file, ...args], cwd),
    networkFile: place.networkFile,
  };
}

/** The `1` of `c1`. */
const numberOf = (cluster: string): number => Number(cluster.slice(1));

/** The program. @throws {Error} that says what to do if it was never built */
export function wireGuardGo(): string {
  const found = findBinaries(['wireguard-go']);
  if (!found.ok) throw new Error(found.reason);
  return found.paths['wireguard-go'];
}
