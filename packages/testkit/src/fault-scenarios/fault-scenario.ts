import { eventually } from '@kube-semaphore/eventually';
import type { Program } from '../program/program.ts';
import type { RandomChanges } from './changes.ts';
import { remoteUp, watchRestarts } from './cluster-metrics.ts';
import { type Side, sides } from './sides.ts';

/** How much changes while something goes wrong, and once more when it is over. */
const CHANGES = { during: 10, after: 5 };

export type FaultScenarioOptions = {
  readonly program: Program;
  /** What its metrics begin with: `semaphore_policy`. */
  readonly prefix: string;
  /** How many watches it keeps open that count as each cluster's. */
  readonly watches: Readonly<Record<Side, number>>;
  /** What changes in its sources. */
  readonly changes: Pick<RandomChanges, 'make'>;
  /** What its sources of now ask for; anything that can be compared with `observed`. */
  readonly wanted: () => Promise<unknown>;
  readonly observed: () => Promise<unknown>;
  /** Everything that should have been there all the time, and wasn't; nothing, if all is well. */
  readonly gaps: () => Promise<readonly string[]>;
  /** Somebody edits what the program wrote, and does no harm by it. */
  readonly tamper: () => Promise<void>;
  /** Resolves when what `observed` reads can be listed: an API server that starts again serves custom resources last. */
  readonly served?: () => Promise<void>;
};

/** What faults have cost. */
export type FaultOutcome = {
  /** What was missing for a while, although it should have been there all the time. */
  readonly gaps: readonly string[];
  /** Lines of the log. */
  readonly errors: readonly object[];
  /** The status of `/healthz`. */
  readonly healthz: number;
};

/** A program that meets faults while its sources change, and what must hold under any fault. */
export class FaultScenario {
  readonly program: Program;
  readonly #options: FaultScenarioOptions;

  constructor(options: FaultScenarioOptions) {
    this.program = options.program;
    this.#options = options;
  }

  /** Changes something. */
  change(): Promise<void> {
    return this.changeDuring(Promise.resolve());
  }

  /** Changes something until `work` is done, and some more if that was soon. */
  async changeDuring(work: Promise<unknown>): Promise<void> {
    let isOver = false;
    const changing = this.#options.changes.make({ least: CHANGES.during, isOver: () => isOver });
    await Promise.all([changing, work.finally(() => (isOver = true))]);
  }

  /** Changes something until `condition` holds. The process is live all the time. */
  async changeUntil(condition: () => Promise<boolean> | boolean): Promise<void> {
    const met = eventually(async () => {
      await this.#checkLive();
      return condition();
    }, true);
    await this.changeDuring(met);
  }

  /** Somebody edits what the program wrote. */
  tamper(): Promise<void> {
    return this.#options.tamper();
  }

  /** Waits until an API server that started again serves what the program writes. */
  async served(): Promise<void> {
    await this.#options.served?.();
  }

  /** Waits until what the program wrote is what the sources of now ask for. */
  async settled(): Promise<void> {
    const { wanted, observed } = this.#options;
    await eventually(observed, await wanted());
  }

  /** How often the watches of a cluster were opened again, for one reason or for all. */
  restarts(side: Side, reason?: string): Promise<number> {
    return watchRestarts(this.program, { prefix: this.#options.prefix, cluster: sides[side], reason });
  }

  /** Whether the watches of a cluster were opened again so many times each, on average, beyond `before`. */
  async restarted(
    side: Side,
    {
      reason,
      times,
      before = 0,
    }: { readonly reason?: string | undefined; readonly times: number; readonly before?: number },
  ): Promise<boolean> {
    return (await this.restarts(side, reason)) >= before + times * this.#options.watches[side];
  }

  /** 1 while a cluster answers, 0 while it doesn't. */
  isUp(side: Side): Promise<number | undefined> {
    return remoteUp(this.program, { prefix: this.#options.prefix, cluster: sides[side] });
  }

  /** Waits until both clusters answer again. */
  bothUp(): Promise<void> {
    return eventually(async () => [await this.isUp('remote'), await this.isUp('local')], [1, 1]);
  }

  /**
   * The faults are over. Waits until what the program wrote is what its sources ask for, also after some more changes, and
   * until both clusters answer.
   *
   * @throws {Error} when one of these takes too long
   */
  async outcome(): Promise<FaultOutcome> {
    const { program, changes, gaps } = this.#options;
    await this.settled();
    await changes.make({ least: CHANGES.after, isOver: () => true });
    await this.settled();
    await this.bothUp();
    return {
      gaps: await gaps(),
      errors: program.log().filter(({ level }) => level === 'error'),
      healthz: (await program.get('/healthz')).status,
    };
  }

  async #checkLive(): Promise<void> {
    const { status, body } = await this.program.get('/healthz');
    if (status !== 200) throw new Error(`/healthz: ${status} ${body}`);
  }
}
