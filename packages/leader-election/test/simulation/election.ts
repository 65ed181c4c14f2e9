import { startGoReplica } from './client-go.ts';
import { Journal } from './journal.ts';
import { FREE, LeaseServer } from './lease-server.ts';
import { Machine, type MachineOptions } from './machine.ts';
import { type Cut, Network } from './network.ts';
import { type Contender, startReplica } from './replica.ts';
import { World } from './world.ts';

/**
 * The program of a replica, and its Lease: `ours` and `client-go` use one Lease, `moved` uses another one, as a later
 * release does, and `moving`, the release in between, uses both.
 */
export type Make = 'ours' | 'client-go' | 'moving' | 'moved';

export type ReplicaPlan = MachineOptions & { readonly make: Make; readonly cuts: readonly Cut[] };

/** Ends a process; another one replaces it after a second, of the same make unless this says otherwise. */
export type Restart = {
  readonly replica: number;
  readonly atMs: number;
  readonly by: 'SIGTERM' | 'SIGKILL';
  readonly make?: Make;
};

export type ElectionPlan = {
  readonly seed: number;
  readonly replicas: readonly ReplicaPlan[];
  readonly restarts: readonly Restart[];
  /** When the Lease is deleted. */
  readonly deletions: readonly number[];
  /** Whether the Lease exists before all replicas. */
  readonly isMade?: boolean;
  /** The delay of a few requests until `slowUntilMs`; the others have 50 ms. */
  readonly slowMs: number;
  readonly slowUntilMs: number;
};

type Process = { readonly machine: Machine; readonly contender: Contender; readonly make: Make };

const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

/** Replicas, the API server and their networks, in simulated time. */
export class Election {
  readonly world = new World();
  readonly journal = new Journal();
  readonly #server = new LeaseServer();
  /** It has the Lease of a later release. */
  readonly #later = new LeaseServer();
  readonly #plan: ElectionPlan;
  readonly #random: () => number;
  /** All processes, as one that was asked to stop may still run. */
  readonly #processes: Process[] = [];
  /** The last process of each replica. */
  readonly #current: Process[] = [];
  /** What must never happen: two processes that believe to lead, a write after the end of its term. */
  readonly violations: string[] = this.journal.violations;

  constructor(plan: ElectionPlan) {
    this.#plan = plan;
    this.#random = randomFrom(plan.seed);
    if (plan.isMade) this.#server.create(FREE);
    plan.replicas.forEach(({ make }, index) => this.#start(index, make));
    for (const restart of plan.restarts) {
      this.world.at(restart.atMs, () => this.#restart(restart));
    }
    for (const atMs of plan.deletions) this.world.at(atMs, () => this.#server.delete());
  }

  get leaders(): number {
    return this.#processes.filter(({ contender }) => contender.isLeader).length;
  }

  runUntil(untilMs: number): Promise<void> {
    return this.world.runUntil(untilMs, () => {
      if (this.leaders > 1) this.violations.push(`${this.leaders} leaders at ${this.world.nowMs} ms`);
    });
  }

  #start(index: number, make: Make): void {
    const { world, journal } = this;
    const { cuts, ...options } = this.#plan.replicas[index]!;
    const machine = new Machine(world, options);
    const network = new Network({ world, machine, cuts, delayMs: () => this.#delayMs() });
    const start = make === 'client-go' ? startGoReplica : startReplica;
    const server = make === 'moving' || make === 'moved' ? this.#later : this.#server;
    const previous = make === 'moving' ? this.#server : undefined;
    const identity = `replica-${index}_${this.#processes.length}`;
    const place = { machine, network, server, previous, journal };
    const contender = start({ identity, times: TIMES, ...place, random: this.#random });
    this.#current[index] = { machine, contender, make };
    this.#processes.push(this.#current[index]);
  }

  #restart({ replica, by, make }: Restart): void {
    const index = replica % this.#plan.replicas.length;
    const { machine, contender, make: before } = this.#current[index]!;
    if (by === 'SIGTERM') contender.stop();
    else machine.kill();
    this.world.at(this.world.nowMs + 1_000, () => this.#start(index, make ?? before));
  }

  #delayMs(): number {
    const { slowMs, slowUntilMs } = this.#plan;
    const isSlow = this.world.nowMs < slowUntilMs && this.#random() < 0.05;
    return this.#random() * (isSlow ? slowMs : 50);
  }
}

/** Mulberry32: one seed gives one sequence. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
