import { setInterval } from 'node:timers/promises';
import type { PolicyRule, TestAccount } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { type FaultProxy, startFaultProxy } from '@kube-semaphore/fault-proxy';
import type { Program } from '../program/program.ts';
import type { AuditEvent } from '../real/audit.ts';
import type { RealCluster } from '../real/real-cluster.ts';
import { type AuditedWrite, hasSucceeded, looksAtLease, tenuresOf, writesOf } from './audit-trail.ts';
import { LEASE_NAMESPACE } from './lease.ts';

/** One of the two, and the account by which the API server knows it. */
export type Replica = { readonly account: string; readonly program: Program };

/** The two by what they do. */
export type Roles = { readonly leader: Replica; readonly standby: Replica };

export type ReplicaPairOptions = {
  /** Where they write; with an audit log. */
  readonly local: RealCluster;
  /** Begins the names of their accounts, and tells pairs on one cluster apart. */
  readonly name: string;
  /** What the app may do locally, also to its Lease. */
  readonly rules: readonly PolicyRule[];
  /** The resources that it writes. */
  readonly resources: readonly string[];
  /** What it calls its Lease. */
  readonly leaseName: string;
  /** Other times of the Lease than the usual ones. */
  readonly times?: LeaseTimes;
  /** What the one is told besides, and the other: then the second starts as soon as the first leads. */
  readonly flags?: readonly [Flags, Flags];
  /** Starts a replica with these flags besides, without their hyphen. */
  readonly spawn: (account: TestAccount, flags: Flags) => Program;
};

/** How one led and then the other, by the audit log. */
export type Succession = {
  /** The accounts that had the Lease, one after the other. */
  readonly holders: readonly string[];
  /** Whose the Lease is now, and how often it went from one to another. */
  readonly lease: { readonly holder: string | undefined; readonly transitions: number };
  /** Writes of the first one that took effect after the other had the Lease, and of the other before. */
  readonly untimely: readonly AuditedWrite[];
  /** Writes that failed for another reason than that they were decided by something older, or that their sender was killed. */
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

/** What is left of a Lease of the usual times, and a while more on a busy machine. The audit log is long, and is read whole. */
const TAKEOVER = { timeoutMs: 40_000, intervalMs: 250 };

/** The default of `-write-concurrency`. */
const WRITE_CONCURRENCY = 16;

/** Something changes so often while nothing else does, so that whoever leads has something to write. */
const BUSY_MS = 100;

/** Two replicas of a program as a Deployment runs them, and each with an account of its own. */
export class ReplicaPair {
  /** By this both reach the local cluster. */
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

  /** Starts both, at once unless there are `flags`. */
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

  /** Waits until both are ready, and tells them apart: which one leads is a matter of luck. */
  async roles(): Promise<Roles> {
    await Promise.all(this.#replicas.map(({ program }) => program.ready()));
    const leads = ({ program }: Replica): boolean => program.log().some(({ msg }) => msg === 'started leading');
    await eventually(() => this.#replicas.some(leads), true);
    const leader = this.#replicas.find(leads)!;
    return { leader, standby: this.#replicas.find((replica) => replica !== leader)! };
  }

  /** From now on there is always something to write. @param change by which number it is the n-th */
  beBusy(change: (count: number) => Promise<void>): void {
    this.#busy = this.#keepBusy(change);
  }

  /**
   * Stops the leader (SIGSTOP) when as many of its requests as it sends at a time were carried out, and it knows of no
   * answer: those are there when it wakes, and make it go on, maybe before it looks at any clock. None is on its way.
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
    const created = async () => (await this.written(leader)).length;
    await eventually(async () => (await created()) >= WRITE_CONCURRENCY, true, {
      what: `${WRITE_CONCURRENCY} writes of ${leader.account}`,
      ...TAKEOVER,
    });
    leader.program.signal('SIGSTOP');
    await release();
  }

  /** What a replica wrote, in order. */
  async written({ account }: Replica): Promise<readonly AuditedWrite[]> {
    return (await this.#writes()).filter((write) => write.account === account && hasSucceeded(write));
  }

  /** Waits until a replica has written after some time, in ms since the epoch. */
  async hasWritten(replica: Replica, afterMs = 0): Promise<void> {
    const hasNow = async () => (await this.written(replica)).some(({ receivedMs }) => receivedMs > afterMs);
    await eventually(hasNow, true, { what: `a write of ${replica.account}`, ...TAKEOVER });
  }

  /** Waits until a replica has looked at the Lease after some time, in ms since the epoch. */
  async hasLooked({ account }: Replica, afterMs: number): Promise<void> {
    const hasNow = async () => looksAtLease(await this.#events(), account).some((ms) => ms > afterMs);
    await eventually(hasNow, true, { what: `${account} to look at the Lease`, ...TAKEOVER });
  }

  /**
   * What came of it when the one that led was to lead no more.
   *
   * @param killedMs when that was by SIGKILL, in ms since the epoch: the API server breaks off what it had on its way
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
    return {
      holders: tenures.map(({ account }) => account),
      lease: await this.#lease(),
      untimely: writes.filter(hasSucceeded).filter(isUntimely),
      failed: writes.filter((write) => !hasSucceeded(write) && write.code !== 409 && !isBrokenOff(write)),
    };
  }

  /** Ends both, also one that sleeps. Returns what they printed. */
  async stop(): Promise<readonly string[]> {
    this.#quiet.abort();
    await Promise.all([this.#busy, ...this.#replicas.map(({ program }) => program.stop('SIGKILL'))]);
    await this.line.stop();
    return this.#replicas.map(({ account, program }) => `${account}:\n${program.stderr()}`);
  }

  /** What the pair tried to write, and what it was answered. */
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
      // That is how such an interval ends.
      if (!this.#quiet.signal.aborted) throw error;
    }
  }
}
