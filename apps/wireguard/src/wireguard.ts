import { abortable } from '@kube-semaphore/cluster-auth';
import type { RunOptions } from '@kube-semaphore/kube-client';
import {
  type AppStatus,
  everyPeriod,
  foreseeRefusals,
  type Inventory,
  type Remote,
  type RemoteChanges,
  type Remotes,
  Runner,
} from '@kube-semaphore/multicluster';
import type { Health } from '@kube-semaphore/runtime';
import { type Device, emptyLargeLog } from '@kube-semaphore/wireguard-tools';
import type { RemoteSettings } from './config/settings.ts';
import { devicesOf } from './mesh/desired/settings.ts';
import { observeNode } from './mesh/local/observe.ts';
import { type KnownRemote, Mesh, type MeshOptions } from './mesh/mesh.ts';
import { Orphans } from './orphans/orphans.ts';
import { LocalNode, type LocalNodeOptions } from './own-node/local-node.ts';
import { checkNode, nodeProblems } from './own-node/check-node.ts';
import { orphanPlan, type Plan, plannedWrites, remotePlan } from './plan.ts';
import type { RotationStatus } from './rotation/rotation.ts';
import { remoteStatus, servedStatus, type Status } from './status.ts';
import { LocalAgents } from './witnesses/local/local-agents.ts';
import { Witnesses } from './witnesses/witnesses.ts';

export type WireGuardInput = Omit<MeshOptions, 'remotes' | 'local'> &
  Omit<LocalNodeOptions, 'onChange'> & {
    /** Only `run` changes the node. */
    readonly purpose: 'run' | 'plan' | 'status';
    readonly remotes: Remotes<RemoteSettings>;
    /** Has remotes besides; undefined: the config names none. */
    readonly inventory?: Inventory | undefined;
  };

type OnceOptions = RunOptions & { readonly timeoutMs: number };

/** The whole app: what our Node announces, the mesh to the Nodes of remotes, and what is left of former remotes. */
export class WireGuard {
  readonly #input: WireGuardInput;
  readonly #local: LocalNode;
  readonly #mesh: Mesh;
  readonly #orphans: Orphans;
  readonly #witnesses: Witnesses;
  readonly #runner: Runner;
  /** Of the node, when the config was last checked on it. */
  #devices: readonly Device[] = [];
  /** Resolves when nothing on the node is in the way of a changed config. */
  #cleared: Promise<void> | undefined;

  constructor(input: WireGuardInput) {
    const { options, remotes } = input;
    this.#input = input;
    this.#local = new LocalNode({
      ...input,
      onChange: () => {
        this.#mesh.rulesMayHaveChanged();
        this.#mesh.observeAll();
      },
    });
    this.#mesh = new Mesh({ ...input, local: this.#local });
    this.#orphans = new Orphans({ ...input, tools: input.devices.tools, local: this.#local });
    this.#witnesses = new Witnesses({
      ...input,
      agents: new LocalAgents(input),
      tools: input.devices.tools,
      local: this.#local,
      remotes: () => this.#mesh.known,
    });
    this.#runner = new Runner({
      local: this.#local,
      prepare: async () => input.inventory?.applied,
      watch: async (running) => {
        await this.#prepare(running);
        return [remotes.run((remote, run) => this.#follow(remote, run), running)];
      },
      remotes: () => this.#mesh.followed,
      watched: 'nodes',
      longestReconcileMs: () => this.#mesh.longestReconcileMs,
      idleTimeoutMs: options.watchIdleTimeoutMs,
    });
  }

  isLive(): Health {
    return this.#runner.isLive();
  }

  /** Whether all devices are set up, and each remote has synced or had its time. */
  isReady(): Health {
    const { missing } = this.#mesh;
    return this.#runner.isWatching && missing.length > 0
      ? { ok: false, reason: `no device yet for ${missing.join(', ')}` }
      : this.#runner.isReady();
  }

  /** Works until `signal` is aborted. Tunnels stay. @throws {ConfigError} if the config can't work on this node */
  run(options: RunOptions): Promise<void> {
    return this.#runner.run(options, (running) => {
      const tidy = (): void => {
        void this.#orphans.check(running);
        void this.#emptyLargeLogs();
      };
      return [
        this.#mesh.run(running),
        this.#witnesses.run(running),
        everyPeriod(this.#input.options.observePeriodMs, tidy, running),
      ];
    });
  }

  /**
   * Takes over the remotes of a changed config.
   *
   * @throws {ConfigError} as `run`, or if there is no way to connect to one; then all stays as it was
   */
  async replaceRemotes(next: readonly RemoteSettings[], running: RunOptions): Promise<RemoteChanges> {
    const { remotes } = this.#input;
    if (!this.#runner.isWatching) return remotes.replace(next);
    const observed = await checkNode(this.#input, next, { local: this.#local, ...running });
    this.#devices = observed.devices;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#cleared = promise;
    try {
      const changes = await remotes.replace(next);
      await this.#orphans.check(running);
      this.#mesh.rulesMayHaveChanged();
      return changes;
    } finally {
      resolve();
    }
  }

  /** Of each wireguard-go that we started: a remote with many Nodes that aren't reached would fill the disk of the keys. */
  async #emptyLargeLogs(): Promise<void> {
    const { devices, log, remotes } = this.#input;
    if (devices.startUserspace === undefined) return;
    for (const { name: cluster, ...settings } of settingsOf(remotes))
      for (const device of devicesOf(settings)) {
        const file = devices.logFile(device);
        try {
          const last = await emptyLargeLog(file);
          if (last !== undefined)
            log.info({ cluster, file, last }, 'log of wireguard-go was too large, and is empty now');
        } catch (error) {
          log.warn({ cluster, file, error }, 'log of wireguard-go can not be looked at, or not be emptied');
        }
      }
  }

  /** Why valid remotes can't work on this node: a sentence for each problem. @throws the signal's reason */
  async problemsOf(remotes: readonly RemoteSettings[], { signal }: RunOptions): Promise<readonly string[]> {
    await abortable(this.#local.listed, signal);
    const observed = await observeNode(this.#input.devices.tools, { signal });
    return nodeProblems({ ...this.#input, remotes }, this.#local.required(), observed);
  }

  /** What `run` would do now. @throws {ConfigError} as `run`; Error if our own Node can't be read in time */
  plan(options: OnceOptions): Promise<Plan> {
    const { devices, remotes, options: app } = this.#input;
    return this.#runner.once(options, async (running) => {
      const observed = await observeNode(devices.tools, running);
      const decided = await this.#mesh.decide(running);
      const decisions = decided.map(({ decision }) => decision);
      return {
        ...orphanPlan(observed, settingsOf(remotes)),
        remotes: decided.map(({ remote, decision }) => remotePlan(remote, decision)),
        refusals: await foreseeRefusals(plannedWrites(decisions, this.#local, app.nodeName), options),
      };
    });
  }

  /** What `/status` says. Observes the devices and routes. */
  async servedStatus(): Promise<AppStatus> {
    const { devices, clock, localName, options } = this.#input;
    const { signal } = new AbortController();
    const observed = await Promise.all([observeNode(devices.tools, { signal }), devices.tools.routes({ signal })]).then(
      ([node, routes]) => ({ ...node, routes, annotations: this.#local.node?.annotations ?? {} }),
      (error: Error) => error,
    );
    return {
      local: this.#runner.localStatus(),
      remotes: await Promise.all(
        this.#mesh.known.map(async (remote) =>
          servedStatus(remote, observed, {
            clock: clock(),
            rotation: await this.#rotationOf(remote, { signal }),
            deviceError: this.#mesh.failureOf(remote),
          }),
        ),
      ),
      config: { name: localName, node: options.nodeName },
    };
  }

  /** What each remote has on this node. Works without our own Node. */
  status(options: OnceOptions): Promise<Status> {
    const { devices, clock } = this.#input;
    return this.#runner.once({ ...options, needsLocal: false }, async (running) => {
      const { annotations = {} } = this.#local.node ?? {};
      const observed = { ...(await observeNode(devices.tools, running)), annotations };
      const remotes = await Promise.all(
        this.#mesh.known.map(async (remote) =>
          remoteStatus(remote, observed, { clock: clock(), rotation: await this.#rotationOf(remote, running) }),
        ),
      );
      return { remotes, problem: this.#local.problem };
    });
  }

  /** Undefined also where the node can't be observed: the status of its devices says why. */
  #rotationOf(remote: KnownRemote, running: RunOptions): Promise<RotationStatus | undefined> {
    return this.#mesh.rotationOf(remote, running).catch(() => {
      running.signal.throwIfAborted();
      return undefined;
    });
  }

  /** Checks that the config can work on this node. Only `run` changes it, and `status` works where `run` can't. */
  async #prepare(running: RunOptions): Promise<void> {
    const { purpose, remotes, devices } = this.#input;
    const settings = settingsOf(remotes);
    const observed =
      purpose === 'status'
        ? await observeNode(devices.tools, running)
        : await checkNode(this.#input, settings, { local: this.#local, ...running });
    const isCleared = purpose === 'run' && (await this.#orphans.remove(observed, running));
    this.#devices = (isCleared ? await observeNode(devices.tools, running) : observed).devices;
  }

  async #follow(remote: Remote<RemoteSettings>, { signal }: RunOptions): Promise<void> {
    if (this.#cleared !== undefined) await this.#cleared;
    if (signal.aborted) return;
    const device = this.#devices.find(({ name }) => name === remote.settings.device);
    await this.#mesh.follow(remote, { signal, device, isRestart: this.#input.purpose === 'run' });
  }
}

const settingsOf = ({ all }: Remotes<RemoteSettings>): readonly RemoteSettings[] => all.map(({ settings }) => settings);
