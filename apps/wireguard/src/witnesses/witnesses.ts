import { setTimeout as delay } from 'node:timers/promises';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { compareText, parseReport, type Witnesses as WitnessesOfNodes } from '@kube-semaphore/naming';
import { addressAt, parseCidr } from '@kube-semaphore/net';
import type { Logger } from '@kube-semaphore/runtime';
import type { Device, WireGuardTools } from '@kube-semaphore/wireguard-tools';
import type { WireGuardOptions } from '../config/options.ts';
import type { RemoteSettings } from '../config/settings.ts';
import { Heard } from '../mesh/desired/heard.ts';
import type { DesiredPeer, PeersAndSkipped } from '../mesh/desired/peers.ts';
import { devicesOf } from '../mesh/desired/settings.ts';
import { FailureLog } from '../mesh/health/failure-log.ts';
import type { WireGuardMetrics } from '../metrics/metrics.ts';
import { silentAnnotation } from '../names.ts';
import type { AnnotationPatch } from '../own-node/desired/own-node.ts';
import type { LocalNode } from '../own-node/local-node.ts';
import { entriesOf } from '../rotation/desired/observed-planes.ts';
import { reportPatch } from './desired/report.ts';
import {
  type Entries,
  type Inherited,
  isAskDue,
  isSpreading,
  NOTHING_SILENT,
  type Silent,
  silentNow,
  stillInherited,
  timesOf,
  type Traffic,
  trafficOf,
} from './desired/silence.ts';
import { ask } from './local/ask.ts';
import type { LocalAgents } from './local/local-agents.ts';

/** A remote whose Nodes may be watched. */
type WatchedRemote = {
  readonly settings: Pick<RemoteSettings, 'name' | 'device' | 'keyRotation' | 'reportSilentAfterMs'>;
  peers(ownKeys: ReadonlySet<string>): PeersAndSkipped | undefined;
};

export type WitnessesOptions = {
  readonly agents: Pick<LocalAgents, 'witnesses' | 'run'>;
  readonly tools: Pick<WireGuardTools, 'devices'>;
  readonly local: Pick<LocalNode, 'node' | 'annotate'>;
  readonly options: Pick<WireGuardOptions, 'nodeName'>;
  /** The remotes of the config. */
  readonly remotes: () => readonly WatchedRemote[];
  readonly metrics: Pick<WireGuardMetrics, 'silentNodes'>;
  readonly log: Logger;
  readonly ask?: typeof ask;
  /** Milliseconds that only go on. Default: `performance.now()`. */
  readonly nowMs?: () => number;
};

/** The devices of this node, and when they were observed. */
type Observed = { readonly devices: readonly Device[]; readonly atMs: number };

/** `observe`: the same for all remotes that are looked at together, as `wg` shows all devices at once. */
type LookOptions = RunOptions & { readonly observe?: () => Promise<Observed> };

/** What is known of a remote: an agent that starts knows nothing but what the one before it has reported. */
type Memory = {
  readonly heard: Heard;
  silent: Silent;
  inherited: Inherited;
  lookedMs: number;
  writtenMs: number;
  /** The Nodes that we watch, as of these witnesses. */
  readonly watched: Map<string, boolean>;
  witnesses: WitnessesOfNodes | undefined;
};

/** Between two looks at the devices. */
const TICK_MS = 1_000;

/** A look costs some CPU with thousands of peers. */
const LONGEST_PERIOD_MS = 5_000;

/** Between two reports about a remote. Each agent of the cluster, and each service-mirror, reads them. */
const REPORT_EVERY_MS = 10_000;

/** @param report what our Node says */
const newMemory = (report: string | undefined): Memory => ({
  heard: new Heard(),
  silent: NOTHING_SILENT,
  inherited: new Map(parseReport(report ?? '')?.silent.map((node) => [node, undefined])),
  lookedMs: -Infinity,
  writtenMs: -Infinity,
  watched: new Map(),
  witnesses: undefined,
});

/**
 * Says on our Node which Nodes of a remote don't answer, of those that this node is a witness for.
 */
export class Witnesses {
  readonly #options: WitnessesOptions;
  readonly #failures: FailureLog;
  readonly #memory = new Map<string, Memory>();
  readonly #lookedMs = new Map<string, number>();

  constructor(options: WitnessesOptions) {
    this.#options = options;
    this.#failures = new FailureLog(options.log);
  }

  /** Watches until `signal` is aborted; once. */
  async run(running: RunOptions): Promise<void> {
    const { signal } = running;
    let watching: Promise<void> | undefined;
    while (!signal.aborted) {
      // Every agent would watch all Nodes of its cluster, so only where it is wanted.
      if (watching === undefined && this.#options.remotes().some(({ settings }) => settings.reportSilentAfterMs > 0))
        watching = this.#options.agents.run(running);
      let observed: Promise<Observed> | undefined;
      const observe = () => (observed ??= this.#observe(running));
      for (const name of this.#due()) await this.#try(name, { signal, observe });
      await delay(TICK_MS, undefined, { signal }).catch(() => undefined); // an abort, which the loop sees next
    }
    await watching;
  }

  /** Looks at the devices of a remote, asks its quiet Nodes for an answer, and reports those that are silent. */
  async reconcile(name: string, running: LookOptions): Promise<void> {
    const { local, remotes, metrics } = this.#options;
    const remote = remotes().find(({ settings }) => settings.name === name);
    const { node } = local;
    if (remote === undefined || node === undefined) return;
    const key = silentAnnotation(name);
    if (remote.settings.reportSilentAfterMs === 0) {
      this.#memory.delete(name);
      metrics.silentNodes.set({ remote: name }, 0);
      return this.#report(name, node.annotations[key] === undefined ? undefined : { [key]: null }, running);
    }
    const memory = this.#memory.get(name) ?? newMemory(node.annotations[key]);
    this.#memory.set(name, memory);
    const report = await this.#look(remote, memory, running);
    const now = this.#nowMs();
    if (report === undefined || now - memory.writtenMs < REPORT_EVERY_MS) return;
    const patch = reportPatch(name, node.annotations, report);
    if (patch !== undefined) memory.writtenMs = now;
    return this.#report(name, patch, running);
  }

  /** @returns what to report; undefined: that isn't known yet */
  async #look(remote: WatchedRemote, memory: Memory, running: LookOptions) {
    const { agents, metrics, log } = this.#options;
    const { settings } = remote;
    const { name: cluster } = settings;
    const times = timesOf(settings.reportSilentAfterMs);
    const { devices: all, atMs: now } = await (running.observe?.() ?? this.#observe(running));
    const devices = all.filter((device) => devicesOf(settings).includes(device.name));
    memory.heard.update(devices, now);
    const peers = remote.peers(new Set(all.flatMap(({ publicKey }) => publicKey ?? [])))?.peers;
    const witnesses = agents.witnesses(cluster);
    if (peers === undefined || witnesses === undefined) return undefined;
    const watched = peers.filter(({ node }) => this.#isOurs(node, memory, witnesses));
    const entries = entriesByNode(devices, watched);
    const traffic = new Map([...entries].map(([node, own]) => [node, trafficOf(own, memory.heard)]));
    const before = memory.silent;
    memory.silent = silentNow(before, traffic, now, times);
    for (const node of memory.silent.keys())
      if (!before.has(node)) log.warn({ cluster, node, afterMs: times.afterMs }, 'node is silent');
    for (const node of before.keys())
      if (!memory.silent.has(node)) log.info({ cluster, node }, 'node is not silent any more');
    const names = new Set(watched.map(({ node }) => node));
    memory.inherited = stillInherited(memory.inherited, names, traffic, now, times);
    const silent = new Set([...memory.silent.keys(), ...memory.inherited.keys()]);
    metrics.silentNodes.set({ remote: cluster }, silent.size);
    const { lookedMs } = memory;
    memory.lookedMs = now;
    const isDue = (each: Traffic | undefined): boolean =>
      each !== undefined && isAskDue(each, { lookedMs, nowMs: now }, times);
    const asked = watched.filter(({ node }) => isDue(traffic.get(node)));
    await (this.#options.ask ?? ask)(asked.flatMap(addressOf));
    if (isSpreading(memory.silent, traffic, now, times)) return undefined;
    return { silent, nodes: peers.length };
  }

  async #observe(running: RunOptions): Promise<Observed> {
    const devices = await this.#options.tools.devices(running);
    return { devices, atMs: this.#nowMs() };
  }

  #nowMs(): number {
    return (this.#options.nowMs ?? (() => performance.now()))();
  }

  /** Whether this node is a witness for a Node. */
  #isOurs(node: string, memory: Memory, witnesses: WitnessesOfNodes): boolean {
    if (memory.witnesses !== witnesses) memory.watched.clear();
    memory.witnesses = witnesses;
    const isOurs = memory.watched.get(node) ?? witnesses.of(node).includes(this.#options.options.nodeName);
    memory.watched.set(node, isOurs);
    return isOurs;
  }

  async #report(cluster: string, patch: AnnotationPatch | undefined, { signal }: RunOptions): Promise<void> {
    if (patch === undefined) return;
    await this.#options.local.annotate(patch, { signal });
    this.#options.log.info({ cluster, annotations: patch }, 'silent nodes reported on our Node');
  }

  async #try(name: string, running: LookOptions): Promise<void> {
    try {
      await this.reconcile(name, running);
      this.#failures.succeeded(name);
    } catch (error) {
      if (!running.signal.aborted) this.#failures.failed({ key: name, error });
    }
  }

  /** Remotes to look at, often enough for a silence; where nothing is reported, for a report that has to go. */
  #due(): readonly string[] {
    const { remotes } = this.#options;
    const now = this.#nowMs();
    const all = new Map(remotes().map(({ settings }) => [settings.name, settings.reportSilentAfterMs]));
    for (const name of this.#lookedMs.keys())
      if (!all.has(name)) {
        this.#memory.delete(name);
        this.#lookedMs.delete(name);
      }
    const due = [...all].filter(
      ([name, afterMs]) => now - (this.#lookedMs.get(name) ?? -Infinity) >= periodOf(afterMs),
    );
    for (const [name] of due) this.#lookedMs.set(name, now);
    return due.map(([name]) => name);
  }
}

const periodOf = (afterMs: number): number =>
  afterMs === 0 ? LONGEST_PERIOD_MS : Math.min(LONGEST_PERIOD_MS, afterMs / 15);

/** The entries of each Node, on one device or two. A Node without one isn't known here. */
function entriesByNode(devices: readonly Device[], peers: readonly DesiredPeer[]): ReadonlyMap<string, Entries> {
  const all = devices.flatMap((device) =>
    [...entriesOf(device, peers)].map(([node, peer]) => ({ node, entry: { device, peer } })),
  );
  const byNode = Map.groupBy(
    all.toSorted((a, b) => compareText(a.node, b.node)),
    ({ node }) => node,
  );
  return new Map([...byNode].map(([node, found]) => [node, found.map(({ entry }) => entry)]));
}

/** The first address of its Pods. */
function addressOf({ allowedIps: [first = ''] }: DesiredPeer): readonly string[] {
  const cidr = parseCidr(first);
  const address = cidr.ok ? addressAt(cidr.value, 0) : undefined;
  return address === undefined ? [] : [address];
}
