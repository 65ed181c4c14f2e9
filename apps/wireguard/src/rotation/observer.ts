import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Logger } from '@kube-semaphore/runtime';
import type { WireGuardOptions } from '../config/options.ts';
import type { RemoteSettings } from '../config/settings.ts';
import { announcementsOf } from '../mesh/desired/device.ts';
import type { HandshakeClock } from '../mesh/desired/handshake.ts';
import { Heard } from '../mesh/desired/heard.ts';
import type { PeersAndSkipped } from '../mesh/desired/peers.ts';
import type { DeviceTools } from '../mesh/local/device.ts';
import { endpointAnnotation, pubKeyAnnotation } from '../names.ts';
import type { KnownNode, LocalNode } from '../own-node/local-node.ts';
import { TIMEOUT_MS } from './desired/laggards.ts';
import { observedPlanes } from './desired/observed-planes.ts';
import { onPlane1, type OnPlane1, type OnPlane1Input, overdueNodes } from './desired/overdue.ts';
import type { Announced, Keys, OwnPlanes } from './desired/planes.ts';
import type { KeyRotation } from './desired/schedule.ts';
import type { Carrier } from './local/carry-out.ts';
import { readKeys } from './local/keys.ts';
import { observeBoth } from './local/observe.ts';
import { LOOSE_ADDRESS } from './local/reverse-path.ts';

export type ObserverOptions = {
  readonly devices: DeviceTools;
  readonly local: Pick<LocalNode, 'node' | 'announce'>;
  readonly options: Pick<WireGuardOptions, 'wgKeyPath'>;
  readonly clock: () => HandshakeClock;
  readonly log: Logger;
  /** Milliseconds that only go on. Default: `performance.now()`. */
  readonly monotonicMs?: () => number;
};

/** A remote whose keys rotate. */
export type RotatingRemote = {
  readonly settings: RemoteSettings;
  peers(ownKeys: ReadonlySet<string>): PeersAndSkipped | undefined;
};

export type ObserveOptions = RunOptions & {
  readonly rotation: KeyRotation;
  /** Of our devices to other remotes. */
  readonly otherKeys: Iterable<string>;
};

/** All that a rotation with a remote is decided from, and carried out on. */
export type Seen = Carrier & {
  readonly keys: Keys;
  readonly own: OwnPlanes;
  /** When the next key was written, in milliseconds of Unix time. */
  readonly sinceMs: number | undefined;
  /** Nodes that should have come home long ago. */
  readonly overdue: readonly string[];
};

/** Sees both devices, the key files and the annotations of a remote; and remembers since when, which only makes a rotation wait longer. */
export class Observer {
  readonly #options: ObserverOptions;
  readonly #heard = new Map<string, Heard>();
  /**
   * By remote: the next key, and when we first saw it, on the clock that only goes on: a clock that is set must not end a rotation
   * too early, or hold it up. A node that was away gives the others their time again.
   */
  readonly #begun = new Map<string, { readonly publicKey: string; readonly atMs: number }>();
  /** By remote and Node: since when we see it announce plane 1, on the same clock. */
  readonly #onPlane1 = new Map<string, OnPlane1>();

  constructor(options: ObserverOptions) {
    this.#options = options;
  }

  /** A remote left the config. */
  forget(remote: string): void {
    this.#heard.delete(remote);
    this.#begun.delete(remote);
    this.#onPlane1.delete(remote);
  }

  /** Changes nothing. @returns undefined without our Node or the first key */
  async observe(remote: RotatingRemote, { rotation, otherKeys, signal }: ObserveOptions): Promise<Seen | undefined> {
    const { devices, local, options, log } = this.#options;
    const { settings } = remote;
    const { node } = local;
    const place = { folder: options.wgKeyPath, remote: settings.name };
    const read = await readKeys(place);
    if (node === undefined || read === undefined) return undefined;
    const names = [settings.device, rotation.secondDevice] as const;
    const found = await observeBoth(devices.tools, names, { signal });
    const keys = { current: read.current, next: read.next && this.#sinceWeSawIt(settings.name, read.next) };
    const peers = remote.peers(new Set([...otherKeys, ...ownKeysOf(keys)]))?.peers;
    const observation = {
      names,
      devices: found.devices,
      routes: found.routes,
      keys,
      announced: announcedOn(settings, node, { rotation, keys }),
      heardMs: this.#listen(
        settings.name,
        found.devices.filter((device) => device !== undefined),
      ),
    };
    const { own, entries } = observedPlanes(observation, settings.podSubnets, peers);
    const overdue = this.#overdue(settings.name, { peers, isThere: found.devices[1] !== undefined });
    return {
      settings,
      node,
      place,
      devices,
      local,
      log,
      links: found.links,
      peers,
      byNode: new Map(peers?.map((peer) => [peer.node, peer])),
      ports: [settings.listenPort, rotation.secondPort],
      looseAddresses: settings.podSubnets.some(({ family }) => family === 4) ? [LOOSE_ADDRESS] : [],
      observation,
      own,
      entries,
      keys,
      sinceMs: read.next?.writtenMs,
      overdue,
    };
  }

  #monotonicMs(): number {
    const { monotonicMs = () => performance.now() } = this.#options;
    return monotonicMs();
  }

  #sinceWeSawIt(remote: string, next: NonNullable<Keys['next']>): NonNullable<Keys['next']> {
    const before = this.#begun.get(remote);
    const monotonic = this.#monotonicMs();
    const begun = before?.publicKey === next.publicKey ? before : { publicKey: next.publicKey, atMs: monotonic };
    this.#begun.set(remote, begun);
    return { ...next, writtenMs: this.#options.clock().nowSeconds * 1_000 - (monotonic - begun.atMs) };
  }

  /** Nodes that we have seen on plane 1 for longer than the timeout. */
  #overdue(remote: string, seen: Pick<OnPlane1Input, 'peers' | 'isThere'>): readonly string[] {
    const nowMs = this.#monotonicMs();
    const since = onPlane1({ ...seen, before: this.#onPlane1.get(remote) ?? new Map(), nowMs });
    this.#onPlane1.set(remote, since);
    return overdueNodes(since, { peers: seen.peers, nowMs, timeoutMs: TIMEOUT_MS });
  }

  #listen(remote: string, devices: Parameters<Heard['update']>[0]): (device: string, publicKey: string) => number {
    const { clock } = this.#options;
    const heard = this.#heard.get(remote) ?? new Heard();
    this.#heard.set(remote, heard);
    const monotonic = this.#monotonicMs();
    heard.update(devices, monotonic);
    const nowMs = clock().nowSeconds * 1_000;
    return (device, publicKey) => nowMs - (monotonic - (heard.last(device, publicKey)?.atMs ?? monotonic));
  }
}

/** Our public keys. */
export const ownKeysOf = ({ current, next }: Keys): readonly string[] => [
  current.publicKey,
  ...(next ? [next.publicKey] : []),
];

/** What our Node announces. Without an address for the remote, nothing can be announced, and nothing is waited for. */
function announcedOn(
  settings: RemoteSettings,
  node: KnownNode,
  { rotation, keys }: { readonly rotation: KeyRotation; readonly keys: Keys },
): Announced | undefined {
  const publicKey = node.annotations[pubKeyAnnotation(settings.name)];
  const endpoint = node.annotations[endpointAnnotation(settings.name)];
  if (publicKey !== undefined && endpoint !== undefined)
    return { publicKey, plane: endpoint.endsWith(`:${rotation.secondPort}`) ? 1 : 0 };
  const { publicKey: ours } = keys.current;
  const [wanted] = announcementsOf(settings, node, { publicKey: ours });
  if (wanted === undefined) return { publicKey: ours, plane: 0 };
  // It came to dial out in the middle of a rotation, which its timeout ends.
  if (publicKey !== undefined && wanted.endpoint === undefined)
    return { publicKey, plane: publicKey === keys.next?.publicKey ? 1 : 0 };
  return undefined;
}
