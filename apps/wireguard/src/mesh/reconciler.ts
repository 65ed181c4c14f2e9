import type { ReconcileContext } from '@kube-semaphore/controller';
import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { Logger } from '@kube-semaphore/runtime';
import type { WireGuardTools } from '@kube-semaphore/wireguard-tools';
import type { WireGuardOptions } from '../config/options.ts';
import type { RemoteSettings } from '../config/settings.ts';
import { announcementsOf, desiredDevice, deviceDiagnostics } from './desired/device.ts';
import type { NodeDiagnostic } from './desired/diagnostic.ts';
import {
  type DesiredDevice,
  type DeviceDiff,
  diffDevice,
  isEmpty,
  peersOnly,
  summaryOf,
} from './desired/diff/device.ts';
import { announcedBy, diffGiven } from './desired/diff/peers.ts';
import type { HandshakeClock } from './desired/handshake.ts';
import { type AnnotationPatch, annotationPatch } from '../own-node/desired/own-node.ts';
import type { DesiredPeer } from './desired/peers.ts';
import type { DeviceHealth, DeviceOutcome } from './health/device-health.ts';
import { applyDevice, DeviceError, type DeviceTools, createDevice } from './local/device.ts';
import { type DeviceKey, saveDeviceKey } from './local/device-key.ts';
import type { KnownNode, LocalNode } from '../own-node/local-node.ts';
import { type Observation, observeDevice, observedOf } from './local/observe.ts';
import { examineDevice, type Ownership } from './local/ownership.ts';
import { deviceAlias } from '../names.ts';
import type { MeshRemote, PeerUpdate } from './remote/mesh-remote.ts';
import type { KeyRotation } from '../rotation/desired/schedule.ts';
import { restore } from '../rotation/local/reverse-path.ts';
import { obstacleTo } from '../rotation/obstacle.ts';
import { Rotation, type RotationStatus } from '../rotation/rotation.ts';
import type { WireGuardMetrics } from '../metrics/metrics.ts';

export type ReconcilerOptions = {
  readonly devices: DeviceTools;
  readonly local: Pick<LocalNode, 'node' | 'required' | 'announce'>;
  readonly options: Pick<WireGuardOptions, 'wgKeyPath'>;
  readonly clock: () => HandshakeClock;
  readonly health: Pick<DeviceHealth, 'started' | 'observed' | 'setUp' | 'succeeded' | 'failed'>;
  readonly log: Logger;
  readonly metrics: Pick<WireGuardMetrics, 'rotations' | 'rotationLaggards'>;
};

/** What a reconcile needs of a remote. */
export type ReconciledRemote = Pick<MeshRemote, 'settings' | 'peers' | 'takeUpdate' | 'setDeviceDiagnostics'>;

/** What a remote has on this node, and what it should have. */
export type Decision = {
  readonly observation: Observation;
  readonly ownership: Ownership;
  readonly key: DeviceKey;
  readonly desired: DesiredDevice;
  readonly diff: DeviceDiff;
  /** Nodes that aren't peers, or not with all of their blocks. */
  readonly skipped: readonly NodeDiagnostic[];
  /** What keeps the device from working as it should. */
  readonly diagnostics: readonly Diagnostic[];
  /** Undefined: the annotations of our Node are right. */
  readonly announcement: AnnotationPatch | undefined;
};

/** A device that is ours, and its key, which is in the key file. */
type Prepared = { readonly observation: Observation; readonly publicKey: string; readonly keyFile: string };

/** The public key of a device whose key isn't made yet, in a plan. */
export const NEW_KEY = '(the new key)';

/** While keys rotate, a turn follows each second. A silence takes 75. */
const MOST_TURNS = 120;

export const NOTHING_DONE: DeviceOutcome = { wrote: false, peers: 0 };

/** A shutdown doesn't interrupt a change of a device: a partial change is of no use, and a whole one is quick. */
const UNINTERRUPTED = { signal: new AbortController().signal };

/**
 * Makes the device of a remote what it should be: creates it, sets it up, routes to it; then, in parallel, announces it on our
 * Node and sets its peers. It changes only what differs.
 *
 * It observes the device the first time, after a failure, and when `observe` asks for it. In between, it changes the peers of the
 * Nodes that changed: an observation of 10,000 peers takes some tenths of a second of CPU.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #tools: WireGuardTools;
  /** By remote and Node: the peers that its device was given, at the last success. */
  readonly #given = new Map<string, Map<string, DesiredPeer>>();
  /** Remotes whose device may not be as we left it. */
  readonly #unsure = new Set<string>();
  /** By remote: our public keys, two while ours rotates. */
  readonly #ownKeys = new Map<string, readonly string[]>();
  readonly #rotation: Rotation;
  /** By remote with a key that rotates, ours or that of a Node: the number of turns since the last step. */
  readonly #rotating = new Map<string, number>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#tools = options.devices.tools;
    this.#rotation = new Rotation(options);
  }

  /** A remote left the config. */
  forget(remote: string): void {
    this.#given.delete(remote);
    this.#unsure.delete(remote);
    this.#ownKeys.delete(remote);
    this.#rotating.delete(remote);
    this.#rotation.forget(remote);
  }

  /**
   * Remotes with a key that rotates, ours or that of a Node: no event says that a handshake came, or a silence. Without those that
   * wait for longer than either takes, as for a Node that died in the middle.
   */
  get rotating(): readonly string[] {
    return [...this.#rotating].flatMap(([remote, turns]) => (turns > MOST_TURNS ? [] : [remote]));
  }

  /** The next reconcile of this remote observes its device. */
  observe(remote: string): void {
    this.#unsure.add(remote);
  }

  /**
   * Makes the device of `remote` what it should be. A device that another program has to create is awaited, which is no error.
   *
   * @throws {DeviceError}, {KeyFileError}, {WireGuardToolsError}; KubeApiError and ConnectionError, when all else is done
   */
  async reconcile(remote: ReconciledRemote, { signal, since }: ReconcileContext): Promise<DeviceOutcome> {
    const { health } = this.#options;
    const wasSetUp = health.started(remote.settings.name);
    try {
      const outcome = await this.#reconcile(remote, { signal });
      health.succeeded(remote.settings, { ...outcome, since, wasSetUp });
      return outcome;
    } catch (error) {
      this.observe(remote.settings.name);
      if (signal.aborted || !health.failed(remote.settings, error)) throw error;
      return NOTHING_DONE;
    }
  }

  /** What `reconcile` would do. Changes nothing. @throws {ConfigError} without our Node; as `reconcile` */
  async decide(remote: ReconciledRemote, { signal }: RunOptions): Promise<Decision> {
    const { settings } = remote;
    const node = this.#options.local.required();
    const { observation, ownership, key } = await this.#examine(settings, node, { signal });
    const publicKey = key.from === 'new' ? NEW_KEY : key.publicKey;
    const usual = this.#compare(remote, node, { observation, publicKey });
    const { skipped } = usual;
    const { announced: wanted, ...rotating } = await this.#foresee(remote, { publicKey, signal });
    const { desired } = { ...usual, ...rotating };
    const diff =
      rotating.desired === undefined
        ? usual.diff
        : diffDevice(observedOf(settings.device, observation), desired, {
            ...this.#options.clock(),
            annotated: new Map(),
          });
    const announced = announcementsOf(settings, node, wanted);
    const { links } = observation;
    return {
      observation,
      ownership,
      key,
      desired,
      diff,
      skipped,
      diagnostics: deviceDiagnostics(settings, { node, links, blocked: diff.routes.blocked }),
      announcement: annotationPatch(node.annotations, { announced, withdrawn: [] }),
    };
  }

  /** What rotates between us and a remote; undefined: nothing, or it is unknown. Changes nothing. */
  async rotationOf(
    remote: Pick<ReconciledRemote, 'settings' | 'peers'>,
    run: RunOptions,
  ): Promise<RotationStatus | undefined> {
    const { name, keyRotation: rotation } = remote.settings;
    const facts = { otherKeys: this.#otherKeys(name), annotated: new Map<string, string>() };
    return rotation && this.#rotation.status(remote, { rotation, ...facts, ...run });
  }

  async #reconcile(remote: ReconciledRemote, { signal }: RunOptions): Promise<DeviceOutcome> {
    const { local, health } = this.#options;
    const { node } = local;
    // Without our Node, we don't know who we are: everything stays.
    if (node === undefined) return NOTHING_DONE;
    const given = this.#given.get(remote.settings.name);
    const isSure = !this.#unsure.delete(remote.settings.name) && !this.#rotating.has(remote.settings.name);
    if (isSure && given !== undefined) {
      const update = remote.takeUpdate(this.#allKeys());
      const isOnPlane1 = remote.settings.keyRotation !== undefined && update?.peers.some(({ plane }) => plane === 1);
      if (update !== undefined && isOnPlane1 !== true) return this.#applyUpdate(remote.settings, given, update);
    }
    const prepared = await this.#prepare(remote.settings, node, { signal });
    const { keyRotation: rotation } = remote.settings;
    const { links } = prepared.observation;
    const second = links.find((link) => link.name === rotation?.secondDevice);
    health.observed(remote.settings.name, { ...prepared.observation, second });
    signal.throwIfAborted();
    if (rotation === undefined) return this.#apply(remote, node, { ...prepared, obstacles: [], signal });
    const obstacle = await obstacleTo(rotation, remote.settings, { ...this.#options, signal });
    return obstacle === undefined
      ? this.#turn(remote, { rotation, signal })
      : this.#apply(remote, node, { ...prepared, obstacles: [obstacle], signal });
  }

  /** What a remote whose keys rotate announces; and its device, if one of them does so now. */
  async #foresee(
    remote: ReconciledRemote,
    { publicKey, signal }: Pick<Prepared, 'publicKey'> & RunOptions,
  ): Promise<{
    readonly desired?: DesiredDevice;
    readonly announced: { readonly publicKey: string; readonly plane?: 0 | 1 };
  }> {
    const { keyRotation: rotation } = remote.settings;
    if (
      rotation === undefined ||
      (await obstacleTo(rotation, remote.settings, { ...this.#options, signal })) !== undefined
    )
      return { announced: { publicKey } };
    const options = { rotation, otherKeys: [], annotated: new Map(), signal };
    return (await this.#rotation.foresee(remote, options)) ?? { announced: { publicKey, plane: 0 } };
  }

  async #examine(settings: RemoteSettings, { annotations }: KnownNode, run: RunOptions) {
    const { options, devices } = this.#options;
    const observation = await observeDevice(this.#tools, settings.device, run);
    const rules = { annotations, keyFolder: options.wgKeyPath, userspace: devices.userspace };
    return { observation, ...(await examineDevice(settings, { observation, ...rules })) };
  }

  /** Makes sure that the device exists and is ours, and that its key is in its file. */
  async #prepare(settings: RemoteSettings, node: KnownNode, { signal }: RunOptions): Promise<Prepared> {
    const { devices, log } = this.#options;
    const tools = this.#tools;
    const { name: cluster, device, mtuBytes } = settings;
    const { observation, key, ownership } = await this.#examine(settings, node, { signal });
    if (ownership.kind === 'foreign' || ownership.kind === 'awaited')
      throw new DeviceError(ownership.reason, { isAwaited: ownership.kind === 'awaited' });
    const publicKey = await saveDeviceKey(key, { tools, device, signal });
    if (key.from !== 'file') log.info({ cluster, file: key.file, publicKey, from: key.from }, 'private key written');
    if (ownership.kind === 'adopted') {
      if (observation.link?.kind === 'tun') await tools.changeLink(device, { linkLocal: false }, { signal });
      log.info({ cluster, device, publicKey }, 'device adopted');
    }
    if (ownership.kind !== 'absent') return { observation, publicKey, keyFile: key.file };
    const carrier = await createDevice(devices, { name: device, alias: deviceAlias(cluster), mtuBytes }, { signal });
    log.info({ cluster, device, carrier }, 'device created');
    return { observation: await observeDevice(tools, device, { signal }), publicKey, keyFile: key.file };
  }

  async #apply(
    remote: ReconciledRemote,
    node: KnownNode,
    {
      observation,
      publicKey,
      keyFile,
      obstacles,
      signal,
    }: Prepared & RunOptions & { readonly obstacles: readonly Diagnostic[] },
  ): Promise<DeviceOutcome> {
    const { health } = this.#options;
    const { settings } = remote;
    this.#ownKeys.set(settings.name, [publicKey]);
    this.#rotating.delete(settings.name);
    remote.takeUpdate(this.#allKeys()); // `#compare` compares all peers
    const { desired, diff } = this.#compare(remote, node, { observation, publicKey });
    const taken = await applyDevice(this.#tools, desired, { diff, keyFile }, UNINTERRUPTED);
    if (observation.link !== undefined) await restore(this.#tools, observation.link);
    health.setUp(settings.name);
    const blocked = [...diff.routes.blocked, ...taken.map((destination) => ({ destination }))];
    const { links } = observation;
    remote.setDeviceDiagnostics([...deviceDiagnostics(settings, { node, links, blocked }), ...obstacles]);
    // In parallel: an API server that doesn't answer must not delay the peers.
    const announcing = this.#announce(settings, node, { publicKey, signal });
    if (diff.peers.length > 0) await this.#tools.changeDevice(desired.name, { peers: diff.peers }, UNINTERRUPTED);
    const announced = await announcing;
    this.#logChanges(settings, diff);
    if (desired.peers !== undefined)
      this.#given.set(settings.name, new Map(desired.peers.map((peer) => [peer.node, peer])));
    if (announced.error !== undefined) throw announced.error;
    return { wrote: announced.wrote || !isEmpty(diff), peers: diff.peers.length };
  }

  /** Makes both devices of a remote whose keys rotate what they should be, and takes the next steps of a rotation. */
  async #turn(
    remote: ReconciledRemote,
    { rotation, signal }: RunOptions & { readonly rotation: KeyRotation },
  ): Promise<DeviceOutcome> {
    const { local, health } = this.#options;
    const { settings } = remote;
    const { name } = settings;
    // Until a turn has found that nothing rotates, each reconcile observes.
    const turns = this.#rotating.get(name) ?? 0;
    this.#rotating.set(name, turns + 1);
    remote.takeUpdate(this.#allKeys()); // the turn compares all peers
    const otherKeys = this.#otherKeys(name);
    const annotated = announcedBy(this.#given.get(name)?.values() ?? []);
    const turn = await this.#rotation.turn(remote, { rotation, otherKeys, annotated, signal });
    if (turn === undefined) return NOTHING_DONE;
    this.#ownKeys.set(name, turn.ownKeys);
    health.setUp(name);
    const { node } = local;
    if (node !== undefined) remote.setDeviceDiagnostics(deviceDiagnostics(settings, { node, ...turn }));
    if (turn.isQuiet) this.#rotating.delete(name);
    else if (turn.tookSteps) this.#rotating.set(name, 0);
    if (turn.peers !== undefined) this.#given.set(name, new Map(turn.peers.map((peer) => [peer.node, peer])));
    if (turn.error !== undefined) throw turn.error;
    return { wrote: turn.wrote, peers: turn.changedPeers };
  }

  #otherKeys(remote: string): readonly string[] {
    return [...this.#ownKeys].flatMap(([other, keys]) => (other === remote ? [] : keys));
  }

  #allKeys(): ReadonlySet<string> {
    return new Set([...this.#ownKeys.values()].flat());
  }

  /** Changes the peers of Nodes that changed, and nothing else. */
  async #applyUpdate(
    settings: RemoteSettings,
    given: Map<string, DesiredPeer>,
    { nodes, peers }: PeerUpdate,
  ): Promise<DeviceOutcome> {
    const before = nodes.flatMap((node) => given.get(node) ?? []);
    const changes = diffGiven(before, peers);
    if (changes.length > 0) await this.#tools.changeDevice(settings.device, { peers: changes }, UNINTERRUPTED);
    this.#logChanges(settings, peersOnly(changes));
    for (const node of nodes) given.delete(node);
    for (const peer of peers) given.set(peer.node, peer);
    return { wrote: changes.length > 0, peers: changes.length };
  }

  #logChanges({ name: cluster }: RemoteSettings, diff: DeviceDiff): void {
    const { log } = this.#options;
    if (!isEmpty(diff)) log.info({ cluster, ...summaryOf(diff) }, 'device changed');
    for (const change of diff.peers) log.debug({ cluster, peer: change.publicKey, change }, 'peer changed');
  }

  #compare(remote: ReconciledRemote, node: KnownNode, { observation, publicKey }: Omit<Prepared, 'keyFile'>) {
    const { settings } = remote;
    const wanted = remote.peers(new Set([...this.#allKeys(), publicKey]));
    const { links } = observation;
    const desired = desiredDevice(settings, { node, links, publicKey, peers: wanted?.peers });
    const annotated = announcedBy(this.#given.get(settings.name)?.values() ?? []);
    const diff = diffDevice(observedOf(settings.device, observation), desired, {
      ...this.#options.clock(),
      annotated,
    });
    return { desired, diff, skipped: wanted?.skipped ?? [] };
  }

  /** Returns its error: peers come first. */
  async #announce(
    settings: RemoteSettings,
    node: KnownNode,
    { publicKey, signal }: Pick<Prepared, 'publicKey'> & RunOptions,
  ): Promise<{ readonly wrote: boolean; readonly error?: unknown }> {
    const { local, log } = this.#options;
    const announced = announcementsOf(settings, node, { publicKey });
    const patch = annotationPatch(node.annotations, { announced, withdrawn: [] });
    try {
      await local.announce(settings.name, patch, { signal });
    } catch (error) {
      return { wrote: false, error };
    }
    if (patch === undefined) return { wrote: false };
    log.info({ cluster: settings.name, annotations: patch }, 'announced on our Node');
    return { wrote: true };
  }
}
