import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startEmbeddedCluster, type TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { builtBinary, node as nodeObject, startRealCluster } from '@kube-semaphore/testkit';
import { type Network, type NetworkNode, type Place, startNetwork } from '@kube-semaphore/testnet';
import { runTool, systemTools, type WireGuardTools } from '@kube-semaphore/wireguard-tools';
import { type Accounts, createAccounts } from './accounts.ts';
import { type Agent, type AgentFlags, spawnAgent } from './agent-process.ts';

/** Additional fields of a remote's entry in a config file. */
export type RemoteFields = Readonly<Record<string, unknown>>;

/** A node of a cluster: a machine on the network, a Node object, and a pod. */
export type MeshNode = {
  readonly name: string;
  readonly cluster: MeshCluster;
  readonly machine: NetworkNode;
  /** Its pod, and the pod's addresses. */
  readonly pod: Place;
  readonly podIps: { readonly v4: string; readonly v6: string };
  readonly podCidrs: readonly [v4: string, v6: string];
  /** `-wg-key-path` of its agent. */
  readonly keyFolder: string;
  /** `wg` and `ip` on it. */
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

/** Which range of IPv4 the Pods of each cluster have: its own, that of c1, or none; then its nodes have IPv6 alone, too. */
export type Ipv4 = 'own' | 'shared' | 'none';

/** The initial number of nodes by cluster: `{ c1: 1, c2: 1 }`. */
export type MeshShape = Readonly<Record<string, number>>;

/** What differs from the default agent. */
export type AgentOptions = {
  readonly flags?: AgentFlags;
  /** Of the entry of a remote, by its name; null omits the remote. */
  readonly remotes?: Readonly<Record<string, RemoteFields | null>>;
  readonly word?: string;
  /** Variables. By default, PATH has wireguard-go. */
  readonly env?: Readonly<Record<string, string>>;
  /** A program and its arguments that start the agent, before the agent's command line. */
  readonly starter?: readonly [file: string, ...args: string[]];
};

/**
 * Clusters whose nodes are machines of one network: with API servers that the machines reach, Node objects, pods, and agents as
 * processes. Node `n<i>` of cluster `c<k>` has the pods `10.<k>.<i>.0/24`, if they have IPv4 and its range is their own, and
 * `fd00:<k>:0:<i>::/64`.
 */
export class Mesh {
  readonly network: Network;
  readonly dir: string;
  readonly #ipv4: Ipv4;
  readonly #clusters = new Map<string, MeshCluster & { readonly nodes: MeshNode[] }>();
  readonly #agents = new Map<MeshNode, Agent[]>();

  private constructor(network: Network, dir: string, ipv4: Ipv4) {
    this.network = network;
    this.dir = dir;
    this.#ipv4 = ipv4;
  }

  /** @param realServers clusters with a real API server; those of others are embedded */
  static async start(shape: MeshShape, realServers: readonly string[] = [], ipv4: Ipv4 = 'own'): Promise<Mesh> {
    const mesh = new Mesh(await startNetwork(), await mkdtemp(join(tmpdir(), 'mesh-')), ipv4);
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
    // Each API server listens on 127.0.0.1 of the host.
    for (const { server } of this.#clusters.values()) await machine.forward(Number(new URL(server.url).port));
    const k4 = this.#ipv4 === 'own' ? k : 1;
    const podCidrs = [`10.${k4}.${i}.0/24`, `fd00:${k}:0:${i}::/64`] as const;
    const podIps = { v4: `10.${k4}.${i}.10`, v6: `fd00:${k}:0:${i}::10` };
    const node: MeshNode = {
      name,
      cluster,
      machine,
      pod: await machine.addPod(this.#inUse([podIps.v4, podIps.v6])),
      podIps,
      podCidrs,
      keyFolder: join(this.dir, `${clusterName}-${name}`),
      tools: systemTools((file, args, options) => runTool(...machine.commandLine(file, args), options)),
    };
    cluster.nodes.push(node);
    const internalIPs = this.#inUse([machine.ipv4, machine.ipv6]);
    const object = nodeObject({ name, podCIDRs: this.#inUse(podCidrs), internalIPs });
    await cluster.server.admin.create('/api/v1/nodes', object);
    return node;
  }

  /** Starts the agent of a node, for all other clusters; `ready()` waits for its devices. */
  async startAgent(node: MeshNode, { flags, remotes = {}, word, env, starter }: AgentOptions = {}): Promise<Agent> {
    const { name, machine, keyFolder } = node;
    const file = await this.configure(node, remotes);
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

  /** Writes the config of a node's agent, at once for one that runs. @returns its path */
  async configure({ name, cluster }: MeshNode, remotes: AgentOptions['remotes'] = {}): Promise<string> {
    const file = join(this.dir, `${cluster.name}-${name}.json`);
    await writeFile(`${file}.new`, JSON.stringify(this.#config(cluster, remotes)));
    await rename(`${file}.new`, file);
    return file;
  }

  /** The last agent of a node. @throws {Error} if there isn't one */
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

  /** The stderr of all agents, for the report of a failed test. */
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
      podSubnets: [`10.${this.#ipv4 === 'own' ? k : 1}.0.0/16`, `fd00:${k}::/48`],
      nodes: [],
    });
  }

  /** The addresses that there are. */
  #inUse([ipv4, ipv6]: readonly [v4: string, v6: string]): readonly string[] {
    return this.#ipv4 === 'none' ? [ipv6] : [ipv4, ipv6];
  }

  #config(local: MeshCluster, more: Readonly<Record<string, RemoteFields | null>>): object {
    const others = [...this.#clusters.values()].filter(({ name }) => name !== local.name && more[name] !== null);
    return {
      local: { name: local.name, kubeConfigPath: local.accounts.agent.kubeconfig },
      remotes: others.map(({ name, accounts, podSubnets }) => ({
        name,
        kubeConfigPath: accounts.reader.kubeconfig,
        podSubnet: this.#inUse(podSubnets),
        // Both ends may differ: the port contains the remote's number.
        wgListenPort: 51_820 + numberOf(name),
        wgDeviceMTU: 1380,
        ...more[name],
      })),
    };
  }
}

/** A place that starts every program by another. */
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
export const wireGuardGo = (): string => builtBinary('wireguard-go');
