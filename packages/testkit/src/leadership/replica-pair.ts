import { setInterval } from 'node:timers/promises';
import type { PolicyRule, TestAccount } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { type FaultProxy, startFaultProxy } from '@kube-semaphore/fault-proxy';
import type { Program } from '../program/program.ts';
import type { AuditEvent } from '../real/audit.ts';
import type { RealCluster } from '../real/real-cluster.ts';
import { type AuditedWrite, hasSucceeded, leaseReads, tenuresOf, writesOf } from './audit-trail.ts';
import { LEASE_NAMESPACE } from './lease.ts';

/** One replica, and its account in the API server. */
export type Replica = { readonly account: string; readonly program: Program };

/** The two replicas by role. */
export type Roles = { readonly leader: Replica; readonly standby: Replica };

export type ReplicaPairOptions = {
  /** The cluster that they write to; it has an audit log. */
  readonly local: RealCluster;
  /** The prefix of their accounts' names, unique on a cluster. */
  readonly name: string;
  /** The app's local rights, including those for its Lease. */
  readonly rules: readonly PolicyRule[];
  /** The resources that it writes. */
  readonly resources: readonly string[];
  /** The name of the Lease. */
  readonly leaseName: string;
  /** The times of the Lease, if not the usual ones. */
  readonly times?: LeaseTimes;
  /** More flags for each replica. With them, the second starts when the first leads. */
  readonly flags?: readonly [Flags, Flags];
  /** Starts a replica with these flags in addition, without their hyphen. */
  readonly spawn: (account: TestAccount, flags: Flags) => Program;
};

/** How the leadership changed, by the audit log. */
export type Succession = {
  /** The accounts that held the Lease, in order. */
  readonly holders: readonly string[];
  /** The Lease's present holder, and its number of transitions. */
  readonly lease: { readonly holder: string | undefined; readonly transitions: number };
  /** Writes of either replica that took effect while the other held the Lease. */
  readonly untimely: readonly AuditedWrite[];
  /** Writes that failed, except those of a killed replica, and of one that doesn't know yet what it or another wrote. */
  readonly failed: readonly AuditedWrite[];
};

/** Without their hyphen. */
type Flags = Readonly<Record<string, string>>;

/** As flags. */
export type LeaseTimes = {
  readonly 'lease-duration': string;
  readonly 'renew-deadline': string;
  readonly 'retry-period': string;
};

type Parts = {
  readonly options: Pick<ReplicaPairOptions, 'local' | 'leaseName' | 'resources'>;
  readonly replicas: readonly Replica[];
  readonly line: FaultProxy;
};

/** The rest of a usual Lease, and a margin. Long intervals, because each probe reads the whole audit log. */
const TAKEOVER = { intervalMs: 250 };

/** Half of the default of `-write-concurrency`: as many as are for one remote at a time. */
const WRITES_AT_A_TIME = 8;

/** The interval of changes that give the leader something to write. */
const BUSY_MS = 100;

/** Two replicas of a program, as a Deployment runs them, each with its own account. */
export class ReplicaPair {
  /** The proxy between both replicas and the local cluster. */
  readonly line: FaultProxy;
  readonly #options: Parts['options'];
  readonly #replicas: readonly Replica[];
  readonly #quiet = new AbortController();
  #busy = Promise.resolve();

  private constructor({ options, replicas, line }: Parts) {
    this.#options = options;
    this.#replicas = replicas;
    this.line = line;
  }

  /** Starts both: at once, or one after the other if there are `flags`. */
  static async start({ spawn, rules, times, flags, ...options }: ReplicaPairOptions): Promise<ReplicaPair> {
    const line = await startFaultProxy(options.local);
    const start = async (name: string, own?: Flags): Promise<Replica> => {
      const account = `${options.name}-${name}`;
      const writer = await options.local.account(account, rules);
      const viaLine = { ...writer, kubeconfig: await line.kubeconfig(writer) };
      return {
        account,
        program: spawn(viaLine, { 'leader-elect': 'true', 'lease-namespace': LEASE_NAMESPACE, ...times, ...own }),
      };
    };
    const first = start('first', flags?.[0]);
    if (flags !== undefined) await (await first).program.logged('started leading');
    return new ReplicaPair({ options, replicas: await Promise.all([first, start('second', flags?.[1])]), line });
  }

  /** Waits until both are ready, and returns them by role: which one leads is random. */
  async roles(): Promise<Roles> {
    await Promise.all(this.#replicas.map(({ program }) => program.ready()));
    const leads = ({ program }: Replica): boolean => program.log().some(({ msg }) => msg === 'started leading');
    await eventually(() => this.#replicas.some(leads), true);
    const leader = this.#replicas.find(leads)!;
    return { leader, standby: this.#replicas.find((replica) => replica !== leader)! };
  }

  /** Changes something periodically, so that there is always something to write. @param change gets a counter */
  beBusy(change: (count: number) => Promise<void>): void {
    this.#busy = this.#keepBusy(change);
  }

  /**
   * Stops the leader (SIGSTOP) when as many of its requests as it sends at a time were carried out, and it knows of no
   * answer: those are there when it wakes, and make it go on, maybe before it reads any clock. None is on its way.
   *
   * @param work gives it far more to create than that
   */
  async stopInTheThick(
    { leader }: Roles,
    { collection, work }: { readonly collection: string; readonly work: () => Promise<void> },
  ): Promise<void> {
    const target = new RegExp(`/${collection}$`);
    const release = await this.line.set({ kind: 'stall', direction: 'answers' }, { verb: 'create', target });
    await work();
    const created = async () => (await this.#written(leader)).length;
    await eventually(async () => (await created()) >= WRITES_AT_A_TIME, true, {
      what: `${WRITES_AT_A_TIME} writes of ${leader.account}`,
      ...TAKEOVER,
    });
    leader.program.signal('SIGSTOP');
    await release();
  }

  /** The writes of a replica, in order. */
  async #written({ account }: Replica): Promise<readonly AuditedWrite[]> {
    return (await this.#writes()).filter((write) => write.account === account && hasSucceeded(write));
  }

  /** Waits until a replica has written after some time, in ms since the epoch. */
  async hasWritten(replica: Replica, afterMs = 0): Promise<void> {
    const hasNow = async () => (await this.#written(replica)).some(({ receivedMs }) => receivedMs > afterMs);
    await eventually(hasNow, true, { what: `a write of ${replica.account}`, ...TAKEOVER });
  }

  /** Waits until a replica has read the Lease after some time, in ms since the epoch. */
  async hasReadLease({ account }: Replica, afterMs: number): Promise<void> {
    const hasNow = async () => leaseReads(await this.#events(), account).some((ms) => ms > afterMs);
    await eventually(hasNow, true, { what: `${account} to read the Lease`, ...TAKEOVER });
  }

  /** Ends the leader once it has written. @returns the succession, once the other one has written */
  async handOver(roles: Roles, signal: 'SIGTERM' | 'SIGKILL'): Promise<Succession> {
    await this.hasWritten(roles.leader);
    const endMs = Date.now();
    await roles.leader.program.stop(signal);
    await this.hasWritten(roles.standby);
    return this.succession(roles, signal === 'SIGKILL' ? { killedMs: endMs } : {});
  }

  /**
   * The succession after the leader was stopped.
   *
   * @param killedMs time of a SIGKILL, in ms since the epoch: the API server aborts the requests in flight
   */
  async succession(
    { leader, standby }: Roles,
    { killedMs = Infinity }: { readonly killedMs?: number } = {},
  ): Promise<Succession> {
    const accounts = [leader.account, standby.account];
    const tenures = tenuresOf(
      writesOf(await this.#events(), { accounts, resources: ['leases'], namespace: LEASE_NAMESPACE }),
    );
    const takeoverMs = tenures[1]?.fromMs ?? 0;
    const writes = await this.#writes();
    const isUntimely = ({ account, receivedMs, endedMs }: AuditedWrite): boolean =>
      account === leader.account ? endedMs > takeoverMs : receivedMs < takeoverMs;
    const isBrokenOff = ({ account, code, endedMs }: AuditedWrite): boolean =>
      account === leader.account && code === 504 && endedMs >= killedMs;
    const isLate = ({ verb, code }: AuditedWrite): boolean => code === 409 || (verb === 'delete' && code === 404);
    return {
      holders: tenures.map(({ account }) => account),
      lease: await this.#lease(),
      untimely: writes.filter(hasSucceeded).filter(isUntimely),
      failed: writes.filter((write) => !hasSucceeded(write) && !isLate(write) && !isBrokenOff(write)),
    };
  }

  /** Ends both, even if one is stopped. Returns what they printed. */
  async stop(): Promise<readonly string[]> {
    this.#quiet.abort();
    await Promise.all([this.#busy, ...this.#replicas.map(({ program }) => program.stop('SIGKILL'))]);
    await this.line.stop();
    return this.#replicas.map(({ account, program }) => `${account}:\n${program.stderr()}`);
  }

  /** The attempted writes of the pair, and their results. */
  async #writes(): Promise<readonly AuditedWrite[]> {
    return writesOf(await this.#events(), {
      accounts: this.#replicas.map(({ account }) => account),
      resources: this.#options.resources,
    });
  }

  #events(): Promise<readonly AuditEvent[]> {
    return this.#options.local.auditLog();
  }

  async #lease(): Promise<Succession['lease']> {
    const { local, leaseName } = this.#options;
    const lease = await local.admin.get(
      `/apis/coordination.k8s.io/v1/namespaces/${LEASE_NAMESPACE}/leases/${leaseName}`,
    );
    const { holderIdentity, leaseTransitions } = lease['spec'] as { holderIdentity: string; leaseTransitions: number };
    const isHolder = ({ program }: Replica): boolean =>
      program.log().some(({ msg, identity }) => msg === 'waiting for the Lease' && identity === holderIdentity);
    return { holder: this.#replicas.find(isHolder)?.account, transitions: leaseTransitions };
  }

  async #keepBusy(change: (count: number) => Promise<void>): Promise<void> {
    let count = 0;
    try {
      for await (const _ of setInterval(BUSY_MS, undefined, { signal: this.#quiet.signal })) await change((count += 1));
    } catch (error) {
      // The abort ends the interval.
      if (!this.#quiet.signal.aborted) throw error;
    }
  }
}
