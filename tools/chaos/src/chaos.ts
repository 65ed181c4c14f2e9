import { judge, mostOf, untimelyWritesIn, type Usage, usageOf } from './judge.ts';
import { Stage } from './perform.ts';
import type { Round } from './script.ts';
import type { Subject } from './subject.ts';
import { startWorld, type WorldOptions } from './world.ts';

/** What happened in a run, and what of it should not have. */
export type Outcome = {
  readonly rounds: number;
  readonly minutes: number;
  /** How often each kind of event was made. */
  readonly counts: Readonly<Record<string, number>>;
  /** The most that one replica used at the end of a round. */
  readonly most: Usage;
  /** Of the last round; none if all is well. */
  readonly violations: readonly string[];
  /** What the replicas logged, if there are violations. */
  readonly logs: readonly string[];
};

export type ChaosOptions = WorldOptions & {
  /** Whether to begin another round. */
  readonly goesOn: (rounds: number) => boolean;
  readonly say?: (what: string) => void;
  /** How long to wait for what must come about when it is quiet. */
  readonly timeoutMs?: number;
};

/** Performs rounds on new clusters until one ends in violations, or no other one is to begin. */
export async function chaos(
  subject: Subject,
  script: Iterable<Round>,
  { goesOn, say = () => {}, timeoutMs = 300_000, ...options }: ChaosOptions,
): Promise<Outcome> {
  const begun = performance.now();
  const world = await startWorld(subject, options);
  let stage: Stage | undefined;
  try {
    const foreign = await world.site.foreign();
    stage = await Stage.start(world);
    say('started');
    const expectations = { foreign, untimelyWrites: untimelyWritesIn(world), timeoutMs, say };
    let violations = await judge(stage, expectations);
    let rounds = 0;
    let most: Usage = { residentMb: 0, files: 0, timers: 0 };
    for (const round of script) {
      if (violations.length > 0 || !goesOn(rounds)) break;
      for (const step of round) await stage.perform(step);
      say(`round ${rounds + 1}: ${round.length} events are over, it gets quiet`);
      await stage.calm();
      violations = await judge(stage, expectations);
      rounds += 1;
      if (violations.length > 0) {
        say(`round ${rounds}: ${violations.join('\n  ')}`);
        // A replica that ended uses nothing.
        break;
      }
      const usages = await Promise.all(stage.programs.map(usageOf));
      say(`round ${rounds}: as it must be; ${usages.map(({ residentMb }) => `${residentMb} MB`).join(' and ')}`);
      most = mostOf([most, ...usages]);
    }
    return {
      rounds,
      minutes: (performance.now() - begun) / 60_000,
      counts: Object.fromEntries([...stage.counts].toSorted(([a], [b]) => (a < b ? -1 : 1))),
      most,
      violations,
      logs: violations.length === 0 ? [] : stage.programs.map(({ stderr }) => stderr()),
    };
  } finally {
    await stage?.stop();
    await world.stop();
  }
}
