import { type Lease, microTime } from '@kube-semaphore/kube-objects';
import { sleep, within } from '../../src/clock.ts';
import type { LeaseLock } from '../../src/lock.ts';
import { lockOver } from './lease-server.ts';
import type { Contender, ReplicaOptions } from './replica.ts';

type Bounds = { readonly signal: AbortSignal };

/**
 * client-go's tools/leaderelection (v0.34), LeaderElector and LeaseLock, function by function: acquire, renew, release,
 * tryAcquireOrRenew. It exits when it loses the Lease.
 */
class GoElector {
  readonly #options: ReplicaOptions;
  readonly #lock: Omit<Required<LeaseLock>, 'lease'>;
  #observed: Lease['spec'] | undefined;
  #observedAtMs = -Infinity;
  #lease: Lease | undefined;
  isLeader = false;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    const lock = lockOver(options.network, options.server);
    // NewFromKubeconfig gives the client a timeout.
    const { clock } = options.machine;
    const bounded = <T>(call: (bounds: Bounds) => Promise<T>, bounds: Bounds): Promise<T> =>
      within(options.times.renewDeadlineMs / 2, call, { ...bounds, clock });
    this.#lock = {
      read: (bounds) => bounded((each) => lock.read(each), bounds),
      create: (spec, bounds) => bounded((each) => lock.create(spec, each), bounds),
      update: (lease, bounds) => bounded((each) => lock.update(lease, each), bounds),
    };
  }

  async run({ signal }: Bounds): Promise<void> {
    const { clock } = this.#options.machine;
    const { retryPeriodMs } = this.#options.times;
    while (!(await this.#tryAcquireOrRenew({ signal }))) {
      // wait.JitterUntil with JitterFactor 1.2.
      await sleep(retryPeriodMs * (1 + 1.2 * this.#options.random()), { signal, clock });
      if (signal.aborted) return;
    }
    this.isLeader = true;
    while (await this.#pollRenew({ signal })) await sleep(retryPeriodMs, { signal, clock });
    this.isLeader = false;
    await this.#release();
  }

  /** wait.PollUntilContextTimeout(ctx, RetryPeriod, RenewDeadline, immediate) */
  async #pollRenew({ signal }: Bounds): Promise<boolean> {
    const { machine, times } = this.#options;
    const { clock } = machine;
    const poll = async (bounds: Bounds): Promise<boolean> => {
      while (!bounds.signal.aborted) {
        if (await this.#tryAcquireOrRenew(bounds)) return true;
        await sleep(times.retryPeriodMs, { ...bounds, clock });
      }
      return false;
    };
    return within(times.renewDeadlineMs, poll, { signal, clock });
  }

  async #tryAcquireOrRenew({ signal }: Bounds): Promise<boolean> {
    const { machine, identity, times } = this.#options;
    const nowMs = machine.clock.now();
    const time = microTime(machine.clock.epochMs());
    const leaseDurationSeconds = times.leaseDurationMs / 1000;
    const stamps = { renewTime: time, acquireTime: time };
    const record = { holderIdentity: identity, leaseDurationSeconds, ...stamps, leaseTransitions: 0 };
    const isOurs = (): boolean => this.#observed?.holderIdentity === identity;
    const history = (): Partial<Lease['spec']> => {
      const { acquireTime, leaseTransitions } = this.#observed!;
      return isOurs() ? { acquireTime, leaseTransitions } : { leaseTransitions: leaseTransitions + 1 };
    };
    try {
      if (isOurs() && this.#isValid(nowMs)) {
        try {
          return await this.#update({ ...record, ...history() }, { signal });
        } catch {
          // It continues with the slow path.
        }
      }
      this.#lease = await this.#lock.read({ signal });
      if (this.#lease === undefined) {
        this.#lease = await this.#lock.create(record, { signal });
        this.#observe(record);
        return true;
      }
      if (JSON.stringify(this.#lease.spec) !== JSON.stringify(this.#observed)) this.#observe(this.#lease.spec);
      if (this.#observed!.holderIdentity !== '' && this.#isValid(nowMs) && !isOurs()) return false;
      return await this.#update({ ...record, ...history() }, { signal });
    } catch {
      return false;
    }
  }

  async #update(spec: Lease['spec'], { signal }: Bounds): Promise<boolean> {
    this.#lease = await this.#lock.update({ ...this.#lease!, spec }, { signal });
    this.#observe(spec);
    return true;
  }

  async #release(): Promise<void> {
    const { machine, times } = this.#options;
    const { clock } = machine;
    const time = microTime(clock.epochMs());
    const release = async ({ signal }: Bounds): Promise<void> => {
      this.#lease = await this.#lock.read({ signal });
      if (this.#lease === undefined || this.#observed?.holderIdentity !== this.#options.identity) return;
      const { leaseTransitions } = this.#lease.spec;
      const stamps = { renewTime: time, acquireTime: time };
      await this.#update({ holderIdentity: '', leaseDurationSeconds: 1, ...stamps, leaseTransitions }, { signal });
    };
    // client-go logs it.
    await within(times.renewDeadlineMs, release, { signal: new AbortController().signal, clock }).catch(
      () => undefined,
    );
  }

  #observe(spec: Lease['spec']): void {
    this.#observed = spec;
    this.#observedAtMs = this.#options.machine.clock.now();
  }

  #isValid(nowMs: number): boolean {
    return this.#observedAtMs + this.#observed!.leaseDurationSeconds * 1000 > nowMs;
  }
}

/** Starts a model of a replica in Go. It exits when it loses the Lease, and its container restarts. */
export function startGoReplica(options: ReplicaOptions): Contender {
  const { machine, identity } = options;
  const stopped = new AbortController();
  const { signal } = stopped;
  let elector: GoElector | undefined;
  const work = async (): Promise<void> => {
    for (let run = 1; !signal.aborted; run++) {
      elector = new GoElector({ ...options, identity: `${identity}_${run}` });
      await elector.run({ signal });
      await sleep(1_000, { signal, clock: machine.clock });
    }
  };
  void work();
  return {
    get isLeader() {
      return machine.isAlive && elector?.isLeader === true;
    },
    stop: () => stopped.abort(),
  };
}
