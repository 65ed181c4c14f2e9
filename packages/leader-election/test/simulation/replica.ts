import { sleep } from '../../src/clock.ts';
import { LeaderElector } from '../../src/elector.ts';
import type { LeaderTimes } from '../../src/state.ts';
import type { Journal, Term } from './journal.ts';
import { lockOver, type LeaseServer, previousLockOver } from './lease-server.ts';
import type { Machine } from './machine.ts';
import type { Network } from './network.ts';

export type ReplicaOptions = {
  readonly identity: string;
  readonly times: LeaderTimes;
  readonly machine: Machine;
  readonly network: Network;
  readonly server: LeaseServer;
  /** It has the Lease of an earlier release, if that is still used. */
  readonly previous?: LeaseServer | undefined;
  readonly journal: Journal;
  readonly random: () => number;
};

/** A replica of any make. */
export interface Contender {
  /** Whether it believes to lead. */
  readonly isLeader: boolean;
  /** As SIGTERM. */
  stop(): void;
}

/** How often a replica writes, and how long a write takes at most. */
const WRITE_PERIOD_MS = 250;
const MAX_WRITE_MS = 4_000;

/** Starts our replica, with the real elector, that writes into the journal whenever it may. */
export function startReplica(options: ReplicaOptions): Contender {
  const { identity, times, machine, network, server, previous, journal, random } = options;
  const { clock } = machine;
  const stopped = new AbortController();
  const { signal } = stopped;
  let term: Term | undefined;
  const lock = lockOver(network, server);
  const previousLock = previous && previousLockOver(network, previous);
  const elector = new LeaderElector({ ...times, lock, previousLock, identity, clock, random });

  const write = (): Promise<void> =>
    elector.guard(async (permit) => {
      const own = term!;
      // Before sending a request, a client reads a token from a file, or connects.
      await sleep(random() * 20, { signal: permit.signal, clock });
      permit.check();
      const delayMs = (): number => (random() < 0.9 ? random() * 10 : random() * MAX_WRITE_MS);
      await network.request(() => journal.land(own), { signal: permit.signal, delayMs });
    });

  const work = async (): Promise<void> => {
    while (!signal.aborted) {
      // Most replicas don't lead, and reject it.
      void write().catch(() => undefined);
      await sleep(WRITE_PERIOD_MS, { signal, clock });
    }
  };

  void elector.run({ signal, onStartedLeading: () => (term = journal.begin(identity)), onStoppedLeading: () => {} });
  void work();
  return {
    get isLeader() {
      return machine.isAlive && elector.isLeader;
    },
    stop: () => stopped.abort(),
  };
}
