import type { Outcome, ReconcileContext } from '@kube-semaphore/controller';
import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Logger } from '@kube-semaphore/runtime';
import type { PeerChange } from '@kube-semaphore/wireguard-tools';
import { announcedKey, announcementsOf, desiredDevice, deviceDiagnostics } from './desired/device.ts';
import { applyDevice, DeviceError, type DeviceTools, makeDevice } from './local/device.ts';
import { type DeviceKey, findDeviceKey, keepDeviceKey, keyFileOf, provingKeys } from './local/device-key.ts';
import { type DesiredDevice, type DeviceDiff, diffDevice, isEmpty } from './desired/diff-device.ts';
import type { HandshakeClock } from './desired/handshake.ts';
import type { KnownNode, LocalNode } from './local/node.ts';
import { type Look, observeDevice, observedOf } from './local/observe.ts';
import type { NodeDiagnostic } from './desired/diagnostic.ts';
import { type Ownership, ownershipOf } from './local/ownership.ts';
import { type AnnotationPatch, annotationPatch } from './desired/own-node.ts';
import type { Remote } from './remote/cluster.ts';
import type { RemoteSettings } from './config/settings.ts';

export type ReconcilerOptions = DeviceTools & {
  readonly local: Pick<LocalNode, 'node' | 'announce'>;
  /** `-wg-key-path`. */
  readonly keyFolder: string;
  readonly staleSeconds: number;
  /** Unix time. */
  readonly nowSeconds: () => number;
  readonly log: Logger;
  /** The device as it was seen by a reconcile, before that changed it. */
  readonly onLook: (remote: Reconciled, look: Look) => void;
  /** The device is set up, whatever becomes of its peers. */
  readonly onStanding: (remote: Reconciled) => void;
};

/** What a reconcile needs of a remote. */
export type Reconciled = Pick<Remote, 'settings' | 'peers' | 'notice'>;

/** What there is of a remote on this node, and what there should be. */
export type Decision = {
  readonly look: Look;
  readonly ownership: Ownership;
  readonly key: DeviceKey;
  readonly desired: DesiredDevice;
  readonly diff: DeviceDiff;
  /** Why Nodes are no peers, or not with all of their blocks. */
  readonly left: readonly NodeDiagnostic[];
  /** Undefined: our Node says all that it should. */
  readonly announcement: AnnotationPatch | undefined;
};

/** The device, which is ours, and its key, which is in its file. */
type Prepared = { readonly look: Look; readonly publicKey: string };

/** A change of the device is carried out to its end, also if we are asked to stop meanwhile: half of one helps nobody, and none takes long. */
const TO_THE_END = { signal: new AbortController().signal };

/**
 * Makes the device of a remote what it should be: it is made and set up, routes lead to it, and at last our Node announces
 * it, while it gets its peers. What is there is looked at each time, and only what differs is changed.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  /** By device, and then by public key: the endpoints of the annotations when all was as it should be. */
  readonly #annotated = new Map<string, ReadonlyMap<string, string>>();
  readonly #ownKeys = new Map<string, string>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  /** @throws {DeviceError}, {KeyFileError}, {WireGuardToolsError}; KubeApiError and ConnectionError, when all else is done */
  async reconcile(
    remote: Reconciled,
    { signal }: Pick<ReconcileContext, 'signal'>,
  ): Promise<Outcome & { readonly peers: number }> {
    const { node } = this.#options.local;
    // Who we are isn't known yet, or not any more: what is there stays.
    if (node === undefined) return { wrote: false, peers: 0 };
    const { look, publicKey } = await this.#prepare(remote.settings, node, { signal });
    this.#options.onLook(remote, look);
    signal.throwIfAborted();
    return this.#apply(remote, node, { look, publicKey, signal });
  }

  /** What `reconcile` would find, without changing anything. @throws as `reconcile` */
  async decide(remote: Reconciled, node: KnownNode, { signal }: RunOptions): Promise<Decision> {
    const { settings } = remote;
    const { look, ownership, key } = await this.examine(settings, node, { signal });
    // A key that is still to be made is no peer's.
    const publicKey = key.from === 'none' ? '' : key.publicKey;
    const { desired, diff, left } = this.#compare(remote, node, { look, publicKey });
    const announced = announcementsOf(settings, node, publicKey === '' ? '(the new key)' : publicKey);
    return {
      look,
      ownership,
      key,
      desired,
      diff,
      left,
      announcement: annotationPatch(node.annotations, { announced, withdrawn: [] }),
    };
  }

  /** What a remote's device is to us, and where its key is. @throws {KeyFileError}, {WireGuardToolsError} */
  async examine(
    settings: RemoteSettings,
    node: KnownNode,
    { signal }: RunOptions,
  ): Promise<Pick<Decision, 'look' | 'ownership' | 'key'>> {
    const { tools, keyFolder, userspace } = this.#options;
    const look = await observeDevice(tools, settings.device, { signal });
    const announced = announcedKey(settings, node.annotations);
    const key = await findDeviceKey(settings, { folder: keyFolder, look, announced });
    const knownKeys = provingKeys(key, announced);
    const devices = look.device === undefined ? [] : [look.device];
    return { look, key, ownership: ownershipOf(settings, { links: look.links, devices }, { knownKeys, userspace }) };
  }

  /** The clock by which handshakes are judged now. */
  clock(): HandshakeClock {
    return { nowSeconds: this.#options.nowSeconds(), staleSeconds: this.#options.staleSeconds };
  }

  /** Sees to it that there is a device of ours, and that its key is in its file. */
  async #prepare(settings: RemoteSettings, node: KnownNode, { signal }: RunOptions): Promise<Prepared> {
    const { tools, log } = this.#options;
    const { name: cluster, device } = settings;
    const { look, key, ownership } = await this.examine(settings, node, { signal });
    if (ownership.kind === 'foreign' || ownership.kind === 'awaited')
      throw new DeviceError(ownership.reason, { isAwaited: ownership.kind === 'awaited' });
    const publicKey = await keepDeviceKey(key, { tools, device, signal });
    if (key.from !== 'file') log.info({ cluster, file: key.file, publicKey, from: key.from }, 'private key written');
    if (ownership.kind === 'adopted') {
      if (look.link?.kind === 'tun') await tools.changeLink(device, { linkLocal: false }, { signal });
      log.info({ cluster, device, publicKey }, 'device adopted');
    }
    if (ownership.kind !== 'absent') return { look, publicKey };
    const { alias, mtuBytes } = desiredDevice(settings, { node, links: [], publicKey, peers: undefined });
    const carrier = await makeDevice(this.#options, { name: device, alias, mtuBytes }, { signal });
    log.info({ cluster, device, carrier }, 'device made');
    return { look: await observeDevice(tools, device, { signal }), publicKey };
  }

  async #apply(
    remote: Reconciled,
    node: KnownNode,
    { look, publicKey, signal }: Prepared & RunOptions,
  ): Promise<Outcome & { readonly peers: number }> {
    const { tools, log } = this.#options;
    const { settings } = remote;
    this.#ownKeys.set(settings.name, publicKey);
    const { desired, diff, left } = this.#compare(remote, node, { look, publicKey });
    const keyFile = keyFileOf(settings, this.#options.keyFolder);
    const surprises = await applyDevice(tools, desired, { diff, keyFile }, TO_THE_END);
    this.#options.onStanding(remote);
    remote.notice(
      left,
      deviceDiagnostics(settings, {
        node,
        links: look.links,
        blocked: [...diff.routes.blocked, ...surprises.map((destination) => ({ destination }))],
      }),
    );
    // Side by side: an API server that gives no answer keeps nobody from the peers.
    const announcing = this.#announce(settings, node, { publicKey, signal });
    if (diff.peers.length > 0) await tools.changeDevice(desired.name, { peers: diff.peers }, TO_THE_END);
    const announced = await announcing;
    if (!isEmpty(diff)) log.info({ cluster: settings.name, ...changeFacts(diff) }, 'device changed');
    for (const change of diff.peers)
      log.debug({ cluster: settings.name, peer: change.publicKey, change }, 'peer changed');
    this.#remember(desired);
    if (announced.error !== undefined) throw announced.error;
    return { wrote: announced.wrote || !isEmpty(diff), peers: diff.peers.length };
  }

  #compare(remote: Reconciled, node: KnownNode, { look, publicKey }: Prepared) {
    const { settings } = remote;
    const wanted = remote.peers(new Set([...this.#ownKeys.values(), publicKey]));
    const desired = desiredDevice(settings, { node, links: look.links, publicKey, peers: wanted?.peers });
    const annotated = this.#annotated.get(settings.device) ?? new Map<string, string>();
    return {
      desired,
      left: wanted?.left ?? [],
      diff: diffDevice(observedOf(settings.device, look), desired, { ...this.clock(), annotated }),
    };
  }

  /** The peers are more urgent than what we say, so an error waits. */
  async #announce(
    settings: RemoteSettings,
    node: KnownNode,
    { publicKey, signal }: Pick<Prepared, 'publicKey'> & RunOptions,
  ): Promise<{ readonly wrote: boolean; readonly error?: unknown }> {
    const { local, log } = this.#options;
    const patch = annotationPatch(node.annotations, {
      announced: announcementsOf(settings, node, publicKey),
      withdrawn: [],
    });
    if (patch === undefined) return { wrote: false };
    try {
      await local.announce(patch, { signal });
      log.info({ cluster: settings.name, annotations: patch }, 'announced on our Node');
      return { wrote: true };
    } catch (error) {
      return { wrote: false, error };
    }
  }

  #remember({ name, peers }: DesiredDevice): void {
    if (peers === undefined) return;
    this.#annotated.set(
      name,
      new Map(peers.flatMap(({ publicKey, endpoint }) => (endpoint === undefined ? [] : [[publicKey, endpoint]]))),
    );
  }
}

/** What a diff changes, as a log line has it. */
function changeFacts({
  setsKey,
  listenPort,
  link,
  addresses,
  routes,
  peers,
}: DeviceDiff): Readonly<Record<string, unknown>> {
  const count = (change: (peer: PeerChange) => boolean): number => peers.filter(change).length;
  const facts = {
    key: setsKey,
    listenPort,
    ...link,
    addressesAdded: addresses.add.length,
    addressesDeleted: addresses.delete.length,
    routesAdded: routes.add.length + routes.replace.length,
    routesDeleted: routes.delete.length,
    peersSet: count(({ remove }) => remove !== true),
    peersRemoved: count(({ remove }) => remove === true),
  };
  return Object.fromEntries(
    Object.entries(facts).filter(([, value]) => value !== undefined && value !== 0 && value !== false),
  );
}
