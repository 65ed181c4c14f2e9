import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { Logger } from '@kube-semaphore/runtime';
import type { Link, Route } from '@kube-semaphore/wireguard-tools';
import type { WireGuardOptions } from '../config/options.ts';
import type { RemoteSettings } from '../config/settings.ts';
import { announcementsOf } from '../mesh/desired/device.ts';
import { problemOf } from '../mesh/desired/diagnostic.ts';
import { type DesiredDevice, diffDevice, isEmpty, summaryOf } from '../mesh/desired/diff/device.ts';
import type { HandshakeClock } from '../mesh/desired/handshake.ts';
import { Heard } from '../mesh/desired/heard.ts';
import type { DesiredPeer, PeersAndSkipped } from '../mesh/desired/peers.ts';
import { KEEPALIVE_SECONDS } from '../mesh/desired/diff/peers.ts';
import { applyDevice, type DeviceTools } from '../mesh/local/device.ts';
import { observedOf } from '../mesh/local/observe.ts';
import type { WireGuardMetrics } from '../metrics/metrics.ts';
import { endpointAnnotation, pubKeyAnnotation, remoteOfAlias } from '../names.ts';
import { dialsOut } from '../own-node/desired/own-node.ts';
import type { KnownNode, LocalNode } from '../own-node/local-node.ts';
import { nextActions } from './desired/next-actions.ts';
import { foreignRoutes, observedPlanes, rangesOf, remotePlanes } from './desired/observed-planes.ts';
import type { Announced, Keys, OwnPlanes, Plane } from './desired/planes.ts';
import { dueMs, type KeyRotation } from './desired/schedule.ts';
import { deviceOfPlane } from './desired/two-devices.ts';
import { carryOut, type Carrier, groupsOf } from './local/carry-out.ts';
import { keyPath, readKeys, readRequest } from './local/keys.ts';
import { observeBoth } from './local/observe.ts';
import { canLoosen, LOOSE_ADDRESS, loosen } from './local/reverse-path.ts';

export type RotationOptions = {
  readonly devices: DeviceTools;
  readonly local: Pick<LocalNode, 'node' | 'announce'>;
  readonly options: Pick<WireGuardOptions, 'wgKeyPath'>;
  readonly clock: () => HandshakeClock;
  readonly log: Logger;
  readonly metrics: Pick<WireGuardMetrics, 'rotations' | 'rotationLaggards'>;
  /** Milliseconds that only go on. Default: `performance.now()`. */
  readonly monotonicMs?: () => number;
};

/** A remote whose keys rotate. */
export type RotatingRemote = {
  readonly settings: RemoteSettings;
  peers(ownKeys: ReadonlySet<string>): PeersAndSkipped | undefined;
};

export type TurnOptions = RunOptions & {
  readonly rotation: KeyRotation;
  /** Of our devices to other remotes. */
  readonly otherKeys: Iterable<string>;
  /** By public key: the endpoints that the peers were last given. */
  readonly annotated: ReadonlyMap<string, string>;
};

/** What a turn did, and what it saw at its end. */
export type Turn = {
  /** Nothing rotates: plane 0 is all that there is. */
  readonly isQuiet: boolean;
  /** Why our Node couldn't be annotated: devices come first. */
  readonly error?: unknown;
  /** It took steps of a rotation. */
  readonly tookSteps: boolean;
  /** A device was repaired. Steps of a rotation don't count. */
  readonly wrote: boolean;
  /** How many peers it changed. */
  readonly changedPeers: number;
  readonly ownKeys: readonly string[];
  readonly peers: readonly DesiredPeer[] | undefined;
  readonly links: readonly Link[];
  /** Routes of others where ours should be. */
  readonly blocked: readonly Route[];
};

/** What rotates between our Node and those of a remote. */
export type RotationStatus = {
  /** Which of our two devices our Node announces. */
  readonly plane: Plane;
  /** When our next key was made, in RFC 3339; null: our own key doesn't rotate now. */
  readonly since: string | null;
  /** Nodes of the remote that rotate. */
  readonly rotating: readonly string[];
  /** Nodes that don't follow ours yet, and those that rotate for longer than ten minutes. */
  readonly laggards: readonly string[];
  /** There are some after ten minutes. */
  readonly late: boolean;
};

/** Three keepalives: longer than any peer that sends on a plane is silent there. */
const SILENCE_MS = 3 * KEEPALIVE_SECONDS * 1_000;

/** How long a rotation waits for Nodes that are down or don't follow. */
const TIMEOUT_MS = 600_000;

/** Rounds of a turn in which nothing is decided yet. */
const MOST_REPAIRS = 3;

/** A change of a device is quick, and a partial one of no use. */
const UNINTERRUPTED = { signal: new AbortController().signal };

type Seen = Carrier & {
  readonly keys: Keys;
  readonly own: OwnPlanes;
  /** When the next key was written, in milliseconds of Unix time. */
  readonly sinceMs: number | undefined;
  /** Nodes that should have come home long ago. */
  readonly overdue: readonly string[];
};

/**
 * Replaces the keys of remotes by two devices, without a lost packet. Everything is decided from what is observed; what it keeps in
 * memory only makes it wait longer after a restart.
 */
export class Rotation {
  readonly #options: RotationOptions;
  readonly #heard = new Map<string, Heard>();
  /** By remote: when its keys began to rotate for us. */
  readonly #seen = new Map<string, number>();
  /** By remote: the next key, and when we first saw it. A node that was away gives the others their time again. */
  readonly #begun = new Map<string, { readonly publicKey: string; readonly atMs: number }>();
  /** By remote and Node: since when we see it announce plane 1. */
  readonly #onPlane1 = new Map<string, ReadonlyMap<string, number>>();
  /** By remote: the Nodes that should have come home long ago, as the log has them. */
  readonly #named = new Map<string, readonly string[]>();

  constructor(options: RotationOptions) {
    this.#options = options;
  }

  /** A remote left the config. */
  forget(remote: string): void {
    this.#heard.delete(remote);
    this.#begun.delete(remote);
    this.#onPlane1.delete(remote);
    this.#named.delete(remote);
    this.#seen.delete(remote);
  }

  /**
   * What keeps the keys of a remote from rotating on this node, before anything rotates: then the node is as one without
   * `keyRotation`, so that the others don't wait for it.
   */
  async obstacle(
    settings: RemoteSettings,
    rotation: KeyRotation,
    { signal }: RunOptions,
  ): Promise<Diagnostic | undefined> {
    const { devices, options } = this.#options;
    const { device, podSubnets, name } = settings;
    const { secondDevice } = rotation;
    const keys = await readKeys({ folder: options.wgKeyPath, remote: name });
    const seen = await observeBoth(devices.tools, [device, secondDevice], { signal });
    if (keys?.next !== undefined) return undefined;
    const link = seen.links.find((each) => each.name === secondDevice);
    const marked = link && remoteOfAlias(link.alias);
    const isSidecar =
      devices.startUserspace === undefined && seen.links.some((each) => each.name === device && each.kind === 'tun');
    const isFree =
      link === undefined || marked === name || (isSidecar && marked === undefined && seen.devices[1] === undefined);
    const problems = [
      ...(dialsOut(this.#options.local.node, settings)
        ? ['this node dials out, so others would not know which device speaks']
        : []),
      ...(isFree ? [] : [`${secondDevice} is not ours`]),
      ...(isSidecar && link === undefined ? [`no sidecar with wireguard-go has created ${secondDevice}`] : []),
      ...(!podSubnets.some(({ family }) => family === 4) || (await canLoosen(devices.tools, device))
        ? []
        : [`net.ipv4.conf.${device}.rp_filter is 1 and can't be changed: set net.ipv4.conf.all.rp_filter to 2 or 0`]),
    ];
    return seen.devices[1] !== undefined && isFree
      ? undefined
      : problemOf('no-rotation', problems.length === 0 ? [] : [`keys can't rotate: ${problems.join('; ')}`])[0];
  }

  /**
   * Makes both devices of a remote what they should be, and takes all steps of a rotation that can be taken now.
   *
   * @returns undefined without our Node or the first key
   * @throws {DeviceError}, {KeyFileError}, {WireGuardToolsError}
   */
  async turn(remote: RotatingRemote, options: TurnOptions): Promise<Turn | undefined> {
    const { signal } = options;
    let [wrote, changedPeers, before] = [false, 0, ''];
    for (let round = 0; ; round++) {
      const seen = await this.#observe(remote, options);
      if (seen === undefined) return undefined;
      const setUp = await this.#setUp(seen, options);
      wrote ||= setUp.wrote;
      changedPeers += setUp.peers;
      // What was repaired has to be seen before something is decided. A repair that never ends must not delay that.
      if (setUp.wrote && round < MOST_REPAIRS) continue;
      const { keys, own, peers, settings, overdue } = seen;
      this.#showLaggards(seen);
      const clock = await this.#clock(seen, options.rotation);
      const actions = nextActions(own, peers && remotePlanes(peers, overdue), clock);
      const { links, observation } = seen;
      const ranges = settings.podSubnets.map(({ text }) => text);
      if (own.devices[1] !== undefined)
        ranges.push(...(peers ?? []).flatMap((peer) => rangesOf(peer, settings.podSubnets)));
      const blocked = foreignRoutes(observation, ranges);
      const tookSteps = before !== '';
      const done = { wrote, tookSteps, changedPeers, peers, links, blocked, ownKeys: ownKeysOf(keys) };
      if (actions.length === 0) {
        const error = await this.#confirm(seen, { signal });
        return { ...done, isQuiet: isQuiet(seen), error };
      }
      const text = JSON.stringify(actions);
      // What couldn't be done, such as a route that others have, isn't tried without end.
      if (text === before) return { ...done, isQuiet: false };
      before = text;
      for (const group of groupsOf(actions)) {
        signal.throwIfAborted();
        const [action] = group;
        if (action.kind === 'commit') this.#warnOfLaggards(seen);
        if (action.kind === 'announce') {
          const error = await this.#announce(action, seen, { signal });
          if (error !== undefined) return { ...done, isQuiet: false, error };
        } else await carryOut(group, seen, UNINTERRUPTED);
        for (const { kind, ...facts } of group) {
          const level = 'node' in facts ? 'debug' : 'info';
          this.#options.log[level]({ cluster: settings.name, step: kind, ...facts }, 'key rotation');
        }
        if (action.kind === 'commit') this.#options.metrics.rotations.inc({ remote: settings.name });
      }
    }
  }

  /**
   * Plane 0 as a turn would repair it, and what it would announce, while something rotates; undefined: nothing does. Changes
   * nothing.
   */
  async foresee(
    remote: RotatingRemote,
    options: TurnOptions,
  ): Promise<{ readonly desired: DesiredDevice; readonly announced: Announced } | undefined> {
    const seen = await this.#observe(remote, options);
    if (seen === undefined || isQuiet(seen)) return undefined;
    const { settings, own, keys } = seen;
    const announced = own.announced ?? { publicKey: keys.current.publicKey, plane: 0 };
    return { desired: deviceOfPlane(settings, 0, seen), announced };
  }

  /** What rotates now; undefined: nothing, or it is unknown. Changes nothing. */
  async status(remote: RotatingRemote, options: TurnOptions): Promise<RotationStatus | undefined> {
    const seen = await this.#observe(remote, options);
    if (seen === undefined || isQuiet(seen)) return undefined;
    const { own, peers, sinceMs, overdue, keys } = seen;
    const nowMs = this.#options.clock().nowSeconds * 1_000;
    const isLong = keys.next !== undefined && nowMs - keys.next.writtenMs >= TIMEOUT_MS;
    return {
      plane: own.announced?.plane ?? 0,
      since: sinceMs === undefined ? null : new Date(sinceMs).toISOString(),
      rotating: (peers ?? []).flatMap(({ node, plane }) => (plane === 1 ? [node] : [])),
      laggards: laggardsOf(seen),
      late: overdue.length > 0 || (isLong && notFollowing(seen).length > 0),
    };
  }

  /** @returns undefined without our Node or the first key */
  async #observe(remote: RotatingRemote, { rotation, otherKeys, signal }: TurnOptions): Promise<Seen | undefined> {
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
    const overdue = this.#overdue(settings.name, peers);
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

  #sinceWeSawIt(remote: string, next: NonNullable<Keys['next']>): NonNullable<Keys['next']> {
    const before = this.#begun.get(remote);
    const nowMs = this.#options.clock().nowSeconds * 1_000;
    const begun = before?.publicKey === next.publicKey ? before : { publicKey: next.publicKey, atMs: nowMs };
    this.#begun.set(remote, begun);
    return { ...next, writtenMs: Math.max(next.writtenMs, begun.atMs) };
  }

  /** Nodes that we have seen on plane 1 for longer than the timeout. @param peers undefined: unknown, so nothing changes */
  #overdue(remote: string, peers: readonly DesiredPeer[] | undefined): readonly string[] {
    const before = this.#onPlane1.get(remote) ?? new Map<string, number>();
    const nowMs = this.#options.clock().nowSeconds * 1_000;
    const since =
      peers === undefined
        ? before
        : new Map(peers.flatMap(({ node, plane }) => (plane === 1 ? [[node, before.get(node) ?? nowMs]] : [])));
    this.#onPlane1.set(remote, since);
    return [...since].flatMap(([node, sinceMs]) => (nowMs - sinceMs >= TIMEOUT_MS ? [node] : []));
  }

  #listen(remote: string, devices: Parameters<Heard['update']>[0]): (device: string, publicKey: string) => number {
    const { clock, monotonicMs = () => performance.now() } = this.#options;
    const heard = this.#heard.get(remote) ?? new Heard();
    this.#heard.set(remote, heard);
    const monotonic = monotonicMs();
    heard.update(devices, monotonic);
    const nowMs = clock().nowSeconds * 1_000;
    return (device, publicKey) => nowMs - (monotonic - (heard.last(device, publicKey)?.atMs ?? monotonic));
  }

  /** Repairs both devices, except for what the rotation moves. */
  async #setUp(seen: Seen, { annotated }: TurnOptions): Promise<{ readonly wrote: boolean; readonly peers: number }> {
    const { devices, clock, log } = this.#options;
    const { tools } = devices;
    const { settings, observation, links, looseAddresses, place, keys } = seen;
    const { names } = observation;
    let [wrote, peers] = [false, 0];
    for (const plane of [0, 1] as const) {
      const device = observation.devices[plane];
      if (device === undefined) continue;
      if (looseAddresses.length > 0) await loosen(tools, names[plane]);
      const desired = deviceOfPlane(settings, plane, seen);
      const link = links.find(({ name }) => name === names[plane]);
      const observed = observedOf(names[plane], { device, link, links, routes: observation.routes });
      const diff = diffDevice(observed, desired, { ...clock(), annotated });
      if (isEmpty(diff)) continue;
      const keyFile = keyPath(place, plane === 1 && keys.next !== undefined ? 'next' : 'current');
      await applyDevice(tools, desired, { diff, keyFile }, UNINTERRUPTED);
      if (diff.peers.length > 0) await tools.changeDevice(names[plane], { peers: diff.peers }, UNINTERRUPTED);
      log.info({ cluster: settings.name, device: names[plane], ...summaryOf(diff) }, 'device changed');
      for (const change of diff.peers)
        log.debug({ cluster: settings.name, peer: change.publicKey, change }, 'peer changed');
      wrote = true;
      peers += diff.peers.length;
    }
    return { wrote, peers };
  }

  async #clock({ settings, place, node, keys }: Seen, { everyMs }: KeyRotation) {
    const nowMs = this.#options.clock().nowSeconds * 1_000;
    const [canAnnounce] = announcementsOf(settings, node, { publicKey: keys.current.publicKey, plane: 0 });
    const seenMs = this.#seen.get(settings.name) ?? nowMs;
    this.#seen.set(settings.name, seenMs);
    const request = await readRequest(place);
    const waitsForAll = request?.waitsForAll === true && request.atMs > keys.current.writtenMs;
    const schedule = { everyMs, seenMs, requestedMs: request?.atMs };
    return {
      nowMs,
      silenceMs: SILENCE_MS,
      timeoutMs: waitsForAll ? Infinity : TIMEOUT_MS,
      dueMs: canAnnounce === undefined ? Infinity : dueMs(keys.current, schedule),
    };
  }

  /** The address of our endpoint may have changed, or an annotation; and an unknown remote may know us. @returns an error */
  async #confirm(seen: Seen, options: RunOptions): Promise<unknown> {
    const { keys, own } = seen;
    const { publicKey } = keys.current;
    const announced = isQuiet(seen) ? { publicKey, plane: 0 as const } : own.announced;
    return announced && this.#announce(announced, seen, options);
  }

  /** @returns its error */
  async #announce(announced: Announced, seen: Seen, options: RunOptions): Promise<unknown> {
    try {
      await carryOut([{ kind: 'announce', ...announced }], seen, options);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  #showLaggards(seen: Seen): void {
    const { log, metrics } = this.#options;
    const { settings, overdue } = seen;
    metrics.rotationLaggards.set({ remote: settings.name }, laggardsOf(seen).length);
    const named = this.#named.get(settings.name) ?? [];
    this.#named.set(settings.name, overdue);
    const nodes = overdue.filter((node) => !named.includes(node));
    if (nodes.length > 0) log.warn({ cluster: settings.name, nodes }, 'nodes do not end their key rotation');
  }

  #warnOfLaggards(seen: Seen): void {
    const nodes = notFollowing(seen);
    if (nodes.length > 0)
      this.#options.log.warn({ cluster: seen.settings.name, nodes }, 'nodes did not follow to the next key in time');
  }
}

/** Nothing rotates, here or there. */
const isQuiet = ({ keys, own, peers }: Pick<Seen, 'keys' | 'own' | 'peers'>): boolean =>
  keys.next === undefined &&
  own.devices[0]?.publicKey === keys.current.publicKey &&
  own.devices[1] === undefined &&
  (peers ?? []).every(({ plane }) => plane !== 1);

/** Nodes that our rotation waits for. */
const notFollowing = ({ keys, own, peers }: Seen): readonly string[] =>
  keys.next === undefined || own.announced?.plane !== 1
    ? []
    : (peers ?? []).map(({ node }) => node).filter((node) => own.routed.get(node) !== 'all');

/** These, and Nodes that don't end their own rotation. */
const laggardsOf = (seen: Seen): readonly string[] => [...new Set([...notFollowing(seen), ...seen.overdue])].toSorted();

const ownKeysOf = ({ current, next }: Keys): readonly string[] => [
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
