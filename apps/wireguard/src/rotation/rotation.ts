import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Link, Route } from '@kube-semaphore/wireguard-tools';
import { announcementsOf } from '../mesh/desired/device.ts';
import { type DesiredDevice, diffDevice, isEmpty, summaryOf } from '../mesh/desired/diff/device.ts';
import { KEEPALIVE_SECONDS } from '../mesh/desired/diff/peers.ts';
import type { DesiredPeer } from '../mesh/desired/peers.ts';
import { applyDevice } from '../mesh/local/device.ts';
import { observedOf } from '../mesh/local/observe.ts';
import type { WireGuardMetrics } from '../metrics/metrics.ts';
import { isQuiet, laggardsOf, notFollowing, TIMEOUT_MS } from './desired/laggards.ts';
import { nextActions } from './desired/next-actions.ts';
import { foreignRoutes, rangesOf, remotePlanes } from './desired/observed-planes.ts';
import type { Announced, Plane } from './desired/planes.ts';
import { dueMs, type KeyRotation } from './desired/schedule.ts';
import { deviceOfPlane } from './desired/two-devices.ts';
import { carryOut, groupsOf } from './local/carry-out.ts';
import { keyPath, readRequest } from './local/keys.ts';
import { loosen } from './local/reverse-path.ts';
import {
  type ObserveOptions,
  Observer,
  type ObserverOptions,
  ownKeysOf,
  type RotatingRemote,
  type Seen,
} from './observer.ts';

export type RotationOptions = ObserverOptions & {
  readonly metrics: Pick<WireGuardMetrics, 'rotations' | 'rotationLaggards'>;
};

export type TurnOptions = ObserveOptions & {
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

/** Rounds of a turn in which nothing is decided yet. */
const MOST_REPAIRS = 3;

/** A change of a device is quick, and a partial one of no use. */
const UNINTERRUPTED = { signal: new AbortController().signal };

/**
 * Replaces the keys of remotes by two devices, without a lost packet. Everything is decided from what is observed; what it keeps in
 * memory only makes it wait longer after a restart.
 */
export class Rotation {
  readonly #options: RotationOptions;
  readonly #observer: Observer;
  /** By remote: when its keys began to rotate for us. */
  readonly #seen = new Map<string, number>();
  /** By remote: the Nodes that should have come home long ago, as the log has them. */
  readonly #named = new Map<string, readonly string[]>();

  constructor(options: RotationOptions) {
    this.#options = options;
    this.#observer = new Observer(options);
  }

  /** A remote left the config. */
  forget(remote: string): void {
    this.#observer.forget(remote);
    this.#named.delete(remote);
    this.#seen.delete(remote);
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
      const seen = await this.#observer.observe(remote, options);
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
    const seen = await this.#observer.observe(remote, options);
    if (seen === undefined || isQuiet(seen)) return undefined;
    const { settings, own, keys } = seen;
    const announced = own.announced ?? { publicKey: keys.current.publicKey, plane: 0 };
    return { desired: deviceOfPlane(settings, 0, seen), announced };
  }

  /** What rotates now; undefined: nothing, or it is unknown. Changes nothing. */
  async status(remote: RotatingRemote, options: TurnOptions): Promise<RotationStatus | undefined> {
    const seen = await this.#observer.observe(remote, options);
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
