import { Controller } from '@kube-semaphore/controller';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { eachInPeriod, everyPeriod, type Remote, type RemoteStatus, type Remotes } from '@kube-semaphore/multicluster';
import type { Cidr } from '@kube-semaphore/net';
import type { Logger } from '@kube-semaphore/runtime';
import type { Device, WatchLinks } from '@kube-semaphore/wireguard-tools';
import type { WireGuardOptions } from '../config/options.ts';
import type { RemoteSettings } from '../config/settings.ts';
import type { WireGuardMetrics } from '../metrics/metrics.ts';
import { dialsOut } from '../own-node/desired/own-node.ts';
import type { LocalNode } from '../own-node/local-node.ts';
import { deviceMtu, minMtu } from '../path-mtu/desired/device-mtu.ts';
import { PathMtu } from '../path-mtu/path-mtu.ts';
import type { RotationStatus } from '../rotation/rotation.ts';
import type { HandshakeClock } from './desired/handshake.ts';
import { DeviceHealth, type DeviceOutcome } from './health/device-health.ts';
import type { DeviceTools } from './local/device.ts';
import { DeviceWatch } from './local/device-watch.ts';
import { type Decision, NOTHING_DONE, Reconciler } from './reconciler.ts';
import { MeshRemote } from './remote/mesh-remote.ts';
import type { NodeRules } from './remote/node.ts';
import { restartDelayMs } from './remote/restart-delay.ts';

export type MeshOptions = {
  readonly remotes: Pick<Remotes<RemoteSettings>, 'all'>;
  readonly local: Pick<LocalNode, 'node' | 'required' | 'announce' | 'forget'>;
  /** The local cluster's name, which annotations are for. */
  readonly localName: string;
  readonly options: WireGuardOptions;
  readonly devices: DeviceTools;
  readonly watchLinks: WatchLinks;
  readonly clock: () => HandshakeClock;
  readonly log: Logger;
  readonly metrics: WireGuardMetrics;
};

export type FollowOptions = RunOptions & {
  /** Of the remote; the first list is measured against its peers. Undefined: it doesn't exist. */
  readonly device: Device | undefined;
  /** The agents of other nodes probably start at this time, too. */
  readonly isRestart: boolean;
};

/** The rules for the Nodes of every remote. */
type SharedRules = { readonly ownIps: readonly string[]; readonly podSubnets: readonly Cidr[] };

/** All that Nodes are read by. */
type AllRules = SharedRules & {
  /** Remotes whose Nodes don't reach ours. */
  readonly dialed: readonly string[];
};

/** Between two looks for endpoints whose paths have to be measured. */
const MEASURE_PERIOD_MS = 5_000;

/** They share a read of the links and routes of the node. With hundreds at once, a change of a Node would wait for all. */
const OBSERVED_AT_ONCE = 8;

/** What `status` and `plan` read of a remote. */
export type KnownRemote = Pick<MeshRemote, 'settings' | 'peers' | 'skipped' | 'failure'> & { status(): RemoteStatus };

/** The tunnels from this node to the Nodes of remotes. A key of its queue is a remote. */
export class Mesh {
  readonly #options: MeshOptions;
  readonly #followed = new Map<string, MeshRemote>();
  readonly #health: DeviceHealth;
  readonly #reconciler: Reconciler;
  readonly #controller: Controller;
  readonly #deviceWatch: DeviceWatch;
  /** The running reconciles, by remote. */
  readonly #reconciling = new Map<string, Promise<DeviceOutcome>>();
  /** What measures right now, which may take longer than a period. */
  readonly #measuring = new Set<PathMtu>();
  /** What the Nodes of all remotes were last read by; undefined before the first is followed. */
  #readBy: AllRules | undefined;

  constructor(options: MeshOptions) {
    const { writeConcurrency, minWriteIntervalMs, observePeriodMs } = options.options;
    this.#options = options;
    this.#health = new DeviceHealth(options);
    this.#reconciler = new Reconciler({ ...options, health: this.#health });
    this.#controller = new Controller({
      reconcile: (name, context) => {
        const remote = this.#followed.get(name);
        if (remote === undefined) return Promise.resolve(NOTHING_DONE);
        const reconciling = this.#reconciler.reconcile(remote, context);
        this.#reconciling.set(name, reconciling);
        return reconciling;
      },
      workers: writeConcurrency,
      minWriteIntervalMs,
      onFailure: (failure) => this.#health.retrying(failure),
    });
    this.#deviceWatch = new DeviceWatch({
      ...options,
      polled: () => [...this.#health.awaited, ...this.#reconciler.rotating],
      retryMs: observePeriodMs,
      onChange: (remote) => this.observe(remote),
    });
  }

  /** The remotes that are followed, in the order of the config. */
  get followed(): readonly MeshRemote[] {
    return this.#options.remotes.all.flatMap(({ settings }) => this.#followed.get(settings.name) ?? []);
  }

  /** All remotes of the config, also before they are followed. */
  get known(): readonly KnownRemote[] {
    return this.#options.remotes.all.map((remote) => this.#followed.get(remote.settings.name) ?? notFollowed(remote));
  }

  /** Remotes whose device isn't set up. */
  get missing(): readonly string[] {
    return this.#options.remotes.all.map(({ settings }) => settings.name).filter((name) => !this.#health.isSetUp(name));
  }

  get longestReconcileMs(): number {
    return this.#controller.longestRunningMs;
  }

  /** Keeps the devices right until `signal` is aborted. */
  async run(running: RunOptions): Promise<void> {
    const { observePeriodMs } = this.#options.options;
    const names = (): readonly string[] => [...this.#followed.keys()];
    const observe = (name: string): void => this.observe(name);
    await Promise.all([
      this.#controller.run(running),
      this.#deviceWatch.run(running),
      eachInPeriod(observePeriodMs, names, observe, { atOnce: OBSERVED_AT_ONCE, ...running }),
    ]);
  }

  /** Keeps the tunnels to a remote until `signal` is aborted. They stay. */
  async follow(remote: Remote<RemoteSettings>, { signal, device, isRestart }: FollowOptions): Promise<void> {
    const { name, resyncPeriodMs } = remote.settings;
    const onChange = (): void => this.#controller.enqueue(name, performance.now());
    const followed = new MeshRemote({ ...this.#options, remote, rules: () => this.#rules(remote.settings), onChange });
    if (device !== undefined) followed.seed(device);
    const paths = remote.settings.measuresMtu ? new PathMtu(this.#options.devices) : undefined;
    if (paths !== undefined && device !== undefined) await this.#keepMtu(followed, { signal });
    if (signal.aborted) return;
    this.#followed.set(name, followed);
    this.#readBy ??= this.#allRules();
    this.observe(name);
    const delayMs = restartDelayMs(device, { isRestart });
    await Promise.all([
      followed.run({ signal, delayMs }),
      everyPeriod(resyncPeriodMs, () => this.observe(name), { signal }),
      paths && everyPeriod(MEASURE_PERIOD_MS, () => void this.#measure(followed, paths, { signal }), { signal }),
    ]);
    this.#followed.delete(name);
    await this.#reconciling.get(name)?.catch(() => undefined); // the controller has its error
    this.#reconciling.delete(name);
    this.#reconciler.forget(name);
    this.#health.forget(name);
    this.#options.local.forget(name);
  }

  /** Has a device keep its MTU until its paths are measured: an agent that starts again has measured it before. Never rejects. */
  async #keepMtu(remote: MeshRemote, running: RunOptions): Promise<void> {
    const { tools } = this.#options.devices;
    const { device, podSubnets } = remote.settings;
    const links = await tools.links(running).catch(() => []); // the reconcile says why
    const mtuBytes = links.find(({ name }) => name === device)?.mtuBytes;
    if (mtuBytes !== undefined) remote.setMtu(Math.max(mtuBytes, minMtu(podSubnets)));
  }

  /** Has the MTU of a device follow the narrowest path to its peers. Never rejects. */
  async #measure(remote: MeshRemote, paths: PathMtu, { signal }: RunOptions): Promise<void> {
    if (this.#measuring.has(paths)) return;
    const { devices, log } = this.#options;
    const { name, device, podSubnets } = remote.settings;
    this.#measuring.add(paths);
    try {
      const all = await devices.tools.devices({ signal });
      const announced = remote.peers(new Set(all.flatMap(({ publicKey }) => publicKey ?? [])))?.peers;
      // At a start, the MTU stays until they are known.
      if (announced === undefined) return;
      const peers = all.find((each) => each.name === device)?.peers ?? [];
      // A NAT lets only the tunnel itself through where a peer was last heard, so what is behind it shows at what it announces.
      const endpoints = new Set([...announced, ...peers].flatMap(({ endpoint }) => endpoint ?? []));
      const found = await paths.measure([...endpoints], { signal });
      const mtuBytes = deviceMtu([...found.values()], podSubnets);
      if (mtuBytes === undefined || !remote.setMtu(mtuBytes)) return;
      const [endpoint, pathBytes] = [...found].reduce((least, path) => (path[1] < least[1] ? path : least));
      log.info({ cluster: name, device, mtuBytes, narrowest: { endpoint, pathBytes } }, 'path MTU measured');
      this.observe(name);
    } catch (error) {
      if (!signal.aborted) log.warn({ cluster: name, error }, 'path MTU not measured');
    } finally {
      this.#measuring.delete(paths);
    }
  }

  /** Why the device of a remote is not as it must be; undefined: it is, or nothing was tried yet. */
  failureOf({ settings }: KnownRemote): string | undefined {
    return this.#health.failureOf(settings.name);
  }

  /** What rotates between us and a remote; undefined: nothing, or it is unknown. */
  rotationOf(remote: KnownRemote, running: RunOptions): Promise<RotationStatus | undefined> {
    return this.#reconciler.rotationOf(remote, running);
  }

  /** What a reconcile of each would do now. */
  async decide(running: RunOptions): Promise<readonly { readonly remote: MeshRemote; readonly decision: Decision }[]> {
    return Promise.all(
      this.followed.map(async (remote) => ({ remote, decision: await this.#reconciler.decide(remote, running) })),
    );
  }

  /** The device of this remote, or our own Node, may have changed. */
  observe(remote: string): void {
    if (!this.#followed.has(remote)) return;
    this.#reconciler.observe(remote);
    this.#controller.enqueue(remote);
  }

  observeAll(): void {
    for (const name of this.#followed.keys()) this.observe(name);
  }

  /** Our own Node or the config changed, so Nodes may have to be read again: an endpoint must be neither ours nor in a tunnel. */
  rulesMayHaveChanged(): void {
    const before = this.#readBy;
    if (before === undefined) return;
    this.#readBy = this.#allRules();
    const { ownIps, podSubnets, dialed } = this.#readBy;
    const isNotIn = (others: readonly Cidr[]) => (cidr: Cidr) => !others.some(({ text }) => text === cidr.text);
    const changed = [
      ...podSubnets.filter(isNotIn(before.podSubnets)),
      ...before.podSubnets.filter(isNotIn(podSubnets)),
    ];
    const isOther = ownIps.join(' ') !== before.ownIps.join(' ') || dialed.join(' ') !== before.dialed.join(' ');
    for (const remote of this.#followed.values()) if (isOther || remote.dependsOn(changed)) remote.reread();
  }

  #sharedRules(): SharedRules {
    const { remotes, local } = this.#options;
    return {
      ownIps: local.node?.internalIps ?? [],
      podSubnets: remotes.all.flatMap(({ settings }) => settings.podSubnets),
    };
  }

  #allRules(): AllRules {
    const { remotes, local } = this.#options;
    const dialed = remotes.all.filter(({ settings }) => dialsOut(local.node, settings));
    return { ...this.#sharedRules(), dialed: dialed.map(({ settings }) => settings.name) };
  }

  #rules(settings: RemoteSettings): NodeRules {
    const { families, podSubnets, allowedIpsFrom, allowedEndpoints } = settings;
    const { ownIps, podSubnets: allSubnets } = this.#sharedRules();
    const endpoints = { podSubnets: allSubnets, allowedEndpoints, ownIps: new Set(ownIps) };
    return {
      local: this.#options.localName,
      families,
      podSubnets,
      allowedIpsFrom,
      endpoints,
      dialsOut: dialsOut(this.#options.local.node, settings),
    };
  }
}

const notFollowed = ({ settings, state }: Remote<RemoteSettings>): KnownRemote => ({
  settings,
  skipped: [],
  failure: state.watches.failure,
  peers: () => undefined,
  status: () => state.status(null),
});
