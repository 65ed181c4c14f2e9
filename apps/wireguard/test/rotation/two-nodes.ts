import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMetrics } from '@kube-semaphore/runtime';
import { generatePrivateKey, type Peer } from '@kube-semaphore/wireguard-tools';
import type { DesiredPeer } from '../../src/mesh/desired/peers.ts';
import { writeKeyFile } from '../../src/mesh/local/key-file.ts';
import { metrics } from '../../src/metrics/metrics.ts';
import type { KnownNode } from '../../src/own-node/local-node.ts';
import { Rotation, type RotationStatus, type Turn } from '../../src/rotation/rotation.ts';
import { cidr, remoteSettings, silentLog } from '../support/builders.ts';
import { FakeTools } from '../support/fake-tools.ts';

const { signal } = new AbortController();
const PORTS = [51_820, 51_920] as const;

/** The message of an error that ends an agent, which starts again, and knows what it sees. */
export const KILLED = 'killed';

/** A node of a mesh of two, in memory but for its keys. */
export type SimulatedNode = {
  readonly name: string;
  readonly tools: FakeTools;
  readonly folder: string;
  node: KnownNode;
  rotation: Rotation;
};

/** Two nodes of two clusters: what one announces, the other reads at once. Time passes by `wait`. */
export class TwoNodes {
  readonly nodes: readonly [SimulatedNode, SimulatedNode];
  /** What was lost, each once. */
  readonly lost = new Set<string>();
  readonly #dir: string;
  #seconds = 0;
  /** The clocks of both, but not the time that passes. */
  wrongBySeconds = 0;
  /** Announcements of these are refused. */
  readonly silenced = new Set<SimulatedNode>();

  private constructor(dir: string) {
    this.#dir = dir;
    this.nodes = [this.#node('a', '10.1.1.0/24'), this.#node('b', '10.2.1.0/24')];
  }

  static async start(): Promise<TwoNodes> {
    const mesh = new TwoNodes(await mkdtemp(join(tmpdir(), 'rotation-')));
    for (const own of mesh.nodes) {
      const key = generatePrivateKey();
      await writeKeyFile(join(own.folder, 'wireguard.other.key'), key);
      own.tools.put('wireguard.other', { alias: 'semaphore-wireguard other', key, listenPort: PORTS[0] });
    }
    for (let i = 0; i < 5; i++) await mesh.round();
    mesh.lost.clear();
    for (const { tools } of mesh.nodes) tools.beforeChange = () => mesh.#check();
    return mesh;
  }

  stop(): Promise<void> {
    return rm(this.#dir, { recursive: true });
  }

  other(own: SimulatedNode): SimulatedNode {
    return own === this.nodes[0] ? this.nodes[1] : this.nodes[0];
  }

  /** A turn of each, and what they send meanwhile. A second passes. */
  async round(): Promise<readonly (Turn | undefined)[]> {
    this.#seconds++;
    this.#traffic();
    const turns: (Turn | undefined)[] = [];
    for (const own of this.nodes) {
      turns.push(await this.#turnOrRestart(own));
      this.#traffic();
    }
    this.#check();
    return turns;
  }

  async #turnOrRestart(own: SimulatedNode): Promise<Turn | undefined> {
    try {
      return await this.turn(own);
    } catch (error) {
      if ((error as Error).message !== KILLED) throw error;
      own.rotation = this.#rotation(own);
      return undefined;
    }
  }

  turn(own: SimulatedNode): Promise<Turn | undefined> {
    return own.rotation.turn(...this.#turnOf(own));
  }

  status(own: SimulatedNode): Promise<RotationStatus | undefined> {
    return own.rotation.status(...this.#turnOf(own));
  }

  #turnOf(own: SimulatedNode): Parameters<Rotation['turn']> {
    const peer = this.#seenBy(own);
    const settings = this.#settings();
    const remote = { settings, peers: () => ({ peers: peer === undefined ? [] : [peer], skipped: [] }) };
    const { keyRotation: rotation } = settings;
    return [remote, { rotation: rotation!, otherKeys: [], annotated: new Map(), signal }];
  }

  wait(seconds: number): void {
    this.#seconds += seconds;
    this.#traffic();
  }

  #settings() {
    return remoteSettings({
      name: 'other',
      device: 'wireguard.other',
      podSubnets: [cidr('10.0.0.0/8')],
      keyRotation: { everyMs: 0, secondPort: PORTS[1], secondDevice: 'wireguard.other.1' },
    });
  }

  #node(name: string, range: string): SimulatedNode {
    const own: Omit<SimulatedNode, 'rotation'> = {
      name,
      tools: new FakeTools(),
      folder: join(this.#dir, name),
      node: {
        uid: name,
        resourceVersion: '1',
        annotations: {},
        internalIps: [name === 'a' ? '192.0.2.1' : '192.0.2.2'],
        externalIps: [],
        endpointAddress: undefined,
        podCidrs: [cidr(range)],
      },
    };
    return Object.assign(own, { rotation: this.#rotation(own) });
  }

  #rotation(own: Omit<SimulatedNode, 'rotation'>): Rotation {
    const { silenced } = this;
    return new Rotation({
      devices: { tools: own.tools, startUserspace: undefined, userspace: 'auto', logFile: () => '' },
      local: {
        get node() {
          return own.node;
        },
        announce: (_, patch = {}) => {
          if ([...silenced].some(({ name }) => name === own.name)) return Promise.reject(new Error('no API server'));
          const annotations = Object.entries({ ...own.node.annotations, ...patch }).filter(
            ([, value]) => value !== null,
          );
          own.node = { ...own.node, annotations: Object.fromEntries(annotations) as Record<string, string> };
          return Promise.resolve();
        },
      },
      options: { wgKeyPath: own.folder },
      clock: () => ({
        nowSeconds: Math.ceil(Date.now() / 1_000) + this.#seconds + this.wrongBySeconds,
        staleSeconds: 1e9,
      }),
      monotonicMs: () => this.#seconds * 1_000,
      log: silentLog,
      metrics: createMetrics(metrics).metrics,
    });
  }

  #seenBy(own: SimulatedNode): DesiredPeer | undefined {
    const { name, node } = this.other(own);
    const annotation = (what: string) => node.annotations[`other.wireguard.semaphore.uw.io/${what}`];
    const [publicKey, endpoint] = [annotation('pubKey'), annotation('endpoint')];
    if (publicKey === undefined || endpoint === undefined) return undefined;
    const plane = endpoint.endsWith(`:${PORTS[1]}`) ? 1 : 0;
    const allowedIps = node.podCidrs.map(({ text }) => text);
    return { node: name, publicKey, endpoint, allowedIps, ...(annotation('planes') !== undefined && { plane }) };
  }

  /** All handshakes that can be, and a keepalive of each entry that sends them. */
  #traffic(): void {
    for (const own of this.nodes)
      for (const device of own.tools.byName.values())
        for (const entry of device.peers) {
          const far = this.#farEnd(own, device.publicKey, entry);
          if (entry.keepaliveSeconds === 0 || entry.endpoint === undefined || far === undefined) continue;
          this.#receive(this.other(own), far.device, device.publicKey!);
          this.#receive(own, device.name, entry.publicKey);
        }
  }

  /** An entry hears something, and learns where it came from. */
  #receive({ tools }: SimulatedNode, device: string, publicKey: string): void {
    const before = tools.byName.get(device)!;
    const peers = before.peers.map((peer) =>
      peer.publicKey === publicKey
        ? {
            ...peer,
            latestHandshakeSeconds: 1,
            receivedBytes: peer.receivedBytes + 32,
            endpoint: peer.endpoint ?? 'learned',
          }
        : peer,
    );
    tools.byName.set(device, { ...before, peers });
  }

  #farEnd(own: SimulatedNode, publicKey: string | undefined, entry: Peer) {
    for (const device of this.other(own).tools.byName.values())
      if (device.publicKey === entry.publicKey)
        for (const peer of device.peers) if (peer.publicKey === publicKey) return { device: device.name, peer };
    return undefined;
  }

  /** A packet of each to the other: by the longest route, to the owner of its range, who has to know the sender. */
  #check(): void {
    for (const own of this.nodes) {
      const [range] = this.other(own).node.podCidrs.map(({ text }) => text);
      const routes = own.tools.table.filter(({ destination }) => destination === range || destination === '10.0.0.0/8');
      const route = routes.find(({ destination }) => destination === range) ?? routes[0];
      const device = own.tools.byName.get(route?.device ?? '');
      const entry = device?.peers.find(({ allowedIps }) => allowedIps.includes(range!));
      const far = entry && this.#farEnd(own, device?.publicKey, entry);
      const arrives = far?.peer.allowedIps.includes(own.node.podCidrs[0]!.text) === true;
      if (!arrives) this.lost.add(`${own.name} through ${device?.name} to ${entry?.publicKey}`);
      // A session needs somebody who began it, and data keep no silence.
      else if (entry?.latestHandshakeSeconds === undefined) this.lost.add(`${own.name} waits on ${device?.name}`);
    }
  }
}
