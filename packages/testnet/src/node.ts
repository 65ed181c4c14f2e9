import type { ChildProcess, SpawnOptions } from 'node:child_process';
import type { Server } from 'node:net';
import { type Capture, startCapture } from './capture.ts';
import { forward } from './forward.ts';
import { Namespace, type Place, type RunOptions } from './namespace.ts';

/** The gateway of each pod, as with Calico: the same address on each link. */
const GATEWAY = { v4: '169.254.1.1', v6: 'fe80::1' } as const;

/** A machine of the network: its link `eth0` leads to the others. It forwards packets. */
export interface NetworkNode extends Place {
  readonly name: string;
  /** Its addresses on the network: `172.31.0.1` of a /24, `fd31::1` of a /64. */
  readonly ipv4: string;
  readonly ipv6: string;
  /**
   * Adds a pod with these addresses, at most one of each family, and routes to them.
   *
   * @param linkName of the node's end of its link. Default: `pod` and a number.
   */
  addPod(ips: readonly string[], linkName?: string): Promise<Place>;
  /** Forwards 127.0.0.1:`port` in the node to 127.0.0.1:`port` of this process, where API servers listen. */
  forward(port: number): Promise<void>;
  /** Starts to record the frames of its link to the others. */
  capture(): Promise<Capture>;
  /** Kills its processes and removes it, as if unplugged. Idempotent. */
  stop(): Promise<void>;
}

/** A {@link NetworkNode} in a namespace. */
export class Node implements NetworkNode {
  readonly name: string;
  readonly ipv4: string;
  readonly ipv6: string;
  readonly #namespace: Namespace;
  readonly #underlay: Namespace;
  readonly #pods: Namespace[] = [];
  readonly #forwards: Server[] = [];
  #plugged = true;

  private constructor(name: string, number: number, namespace: Namespace, underlay: Namespace) {
    this.name = name;
    this.ipv4 = `172.31.0.${number}`;
    this.ipv6 = `fd31::${number.toString(16)}`;
    this.#namespace = namespace;
    this.#underlay = underlay;
  }

  /** @param number of the node, from 1 to 254 */
  static async make(name: string, number: number, underlay: Namespace): Promise<Node> {
    const namespace = await Namespace.make();
    const node = new Node(name, number, namespace, underlay);
    try {
      await ip(
        underlay,
        `link add dev ${name} type veth peer name eth0 netns ${namespace.pid}`,
        `link set dev ${name} master br0 up`,
      );
      await namespace.run('sh', [
        '-c',
        'echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding',
      ]);
      // No duplicate address detection: it takes a second, and these addresses are unique.
      await ip(
        namespace,
        'link set eth0 up',
        `address add ${node.ipv4}/24 dev eth0`,
        `address add ${node.ipv6}/64 dev eth0 nodad`,
      );
      return node;
    } catch (error) {
      await node.stop();
      throw error;
    }
  }

  run(file: string, args: readonly string[], options?: RunOptions): Promise<string> {
    return this.#namespace.run(file, args, options);
  }

  spawn(file: string, args: readonly string[], options?: SpawnOptions): ChildProcess {
    return this.#namespace.spawn(file, args, options);
  }

  commandLine(file: string, args: readonly string[], cwd?: string): readonly [string, readonly string[]] {
    return this.#namespace.commandLine(file, args, cwd);
  }

  get networkFile(): string {
    return this.#namespace.networkFile;
  }

  async addPod(ips: readonly string[], linkName?: string): Promise<Place> {
    const pod = await Namespace.make();
    const count = this.#pods.push(pod);
    const link = linkName ?? `pod${count}`;
    await ip(
      this.#namespace,
      `link add dev ${link} type veth peer name eth0 netns ${pod.pid}`,
      `link set dev ${link} up`,
      `address add ${GATEWAY.v4}/32 dev ${link}`,
      `address add ${GATEWAY.v6}/64 dev ${link} nodad`,
    );
    await ip(pod, 'link set eth0 up', `route add ${GATEWAY.v4} dev eth0`);
    for (const address of ips) {
      const [family, length, gateway] = address.includes(':') ? ['-6', '/128', GATEWAY.v6] : ['-4', '/32', GATEWAY.v4];
      await ip(pod, `address add ${address}${length} dev eth0${family === '-6' ? ' nodad' : ''}`);
      await pod.run('ip', [family, 'route', 'add', 'default', 'via', gateway, 'dev', 'eth0']);
      await this.run('ip', [family, 'route', 'add', `${address}${length}`, 'dev', link]);
    }
    return pod;
  }

  async forward(port: number): Promise<void> {
    this.#forwards.push(await forward(this, port));
  }

  capture(): Promise<Capture> {
    return startCapture(this.#underlay, this.name);
  }

  async stop(): Promise<void> {
    for (const server of this.#forwards) server.close();
    // The kernel removes a namespace late, and answers pings until then. There may be no link yet. Once
    // only: a successor may have the name.
    if (this.#plugged) await this.#underlay.run('ip', ['link', 'delete', 'dev', this.name]).catch(() => {});
    this.#plugged = false;
    await Promise.all([this.#namespace, ...this.#pods].map((namespace) => namespace.close()));
  }
}

/** Runs commands of `ip`, one after the other, in one process. */
async function ip(place: Place, ...commands: readonly string[]): Promise<void> {
  await place.run('ip', ['-batch', '-'], { input: `${commands.join('\n')}\n` });
}
