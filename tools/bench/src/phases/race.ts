import { requestsTo } from '../load/clusters.ts';
import type { Expected } from '../measure/local-watch.ts';
import { atRate } from '../measure/pace.ts';
import { type Program, within } from '../measure/program.ts';
import { since, total } from '../measure/requests.ts';
import { usageAfter, usageOf } from '../measure/usage.ts';
import type { RaceOptions } from '../options.ts';
import type { Figures } from '../report/report.ts';
import { type Bench, type Change, CHANGES_PER_SECOND } from './bench.ts';
import { propagation } from './propagation.ts';
import type { Trial } from './run.ts';

/** What a program that writes local objects runs through. */
export type Course = {
  /** The objects that a cold sync writes, and those that a change writes, in the singular. */
  readonly object: string;
  readonly written: string;
  /** Of a change: "the PATCH of a pod to its local set". */
  readonly effect: string;
  readonly expected: Expected;
  /** Is made while the program is stopped; undefined: no restart is measured. */
  readonly downtime?: Change;
  /** Changes of distinct keys: at a steady rate, and at full speed. Who is written often waits, so no key is in both. */
  readonly steady: readonly Change[];
  readonly burst: readonly Change[];
  /** Rolls out one more workload. */
  readonly rollOut: (signal: AbortSignal) => Promise<Figures>;
  /** One more phase, and its name. */
  readonly more?: { readonly name: string; readonly run: (program: Program) => Promise<Figures> } | undefined;
};

const ROLLOUT_SECONDS = 5;

/** Over 5 s: five writes at once, then one per 200 ms, the default of `-min-write-interval`; and one for the edges. */
export const WRITES_PER_SECOND = 31 / ROLLOUT_SECONDS;

/** Runs one program through all phases. */
export async function* race(
  bench: Bench,
  trial: Trial,
  course: Course,
  options: RaceOptions,
): AsyncGenerator<Figures, void> {
  const { account, start, say } = trial;
  const { object, written, effect, downtime, steady, burst, more } = course;
  say('cold sync');
  let program = start();
  yield coldSync(bench, program, account, { object, expected: course.expected, settle: options.settle });
  let earlierPeakMb = 0;

  if (downtime !== undefined) {
    say('a restart');
    earlierPeakMb = (await usageOf(program.pid)).peakMb;
    await program.stop();
    await downtime.apply();
    const before = await requestsTo([bench.local], account);
    program = start();
    const seenAtMs = await bench.watch.seen(downtime.key, downtime.item, { signal: within(program) });
    // Needless writes may come later.
    const { peakMb } = await usageAfter(options.settle, program);
    const requests = since(before, await requestsTo([bench.local], account));
    yield {
      'restart: change of the downtime written after': [(seenAtMs - program.startedAtMs) / 1000, 's'],
      'restart: peak memory': [peakMb, 'MB'],
      'restart: other writes': [total(requests, ['get', 'list', 'watch']) - 1],
      'restart: requests to the local cluster': [requests],
    };
  }

  const running = { program, account, effect };
  say(`${steady.length} changes, ${CHANGES_PER_SECOND} a second`);
  const { figures, requestsPerWrite } = await propagation(bench, steady, 'steady', running);
  yield { ...figures, [`${CHANGES_PER_SECOND} changes/s: requests per written ${written}`]: [requestsPerWrite] };

  say(`${burst.length} changes at full speed`);
  const { figures: burstFigures, seconds } = await propagation(bench, burst, 'burst', running);
  yield { ...burstFigures, 'burst: all seen after': [seconds, 's'] };

  say(`a rollout of ${options.rollout} pods`);
  yield course.rollOut(within(program));

  if (more !== undefined) {
    say(more.name);
    yield more.run(program);
  }
  if (options.idle > 0) {
    say(`${options.idle} s without changes`);
    yield idle(program, options);
  }
  yield { 'peak memory of all phases': [Math.max(earlierPeakMb, (await usageOf(program.pid)).peakMb), 'MB'] };
}

/** From exec, which was in the same turn of the event loop, until the local cluster, which was empty, is complete. */
async function coldSync(
  { watch, remotes, local }: Bench,
  program: Program,
  account: string,
  { object, expected, settle }: { object: string; expected: Expected; settle: number },
): Promise<Figures> {
  const { firstAtMs, allAtMs } = await watch.complete(expected, { signal: within(program) });
  const { cpuSeconds, peakMb } = await usageOf(program.pid);
  const { residentMb } = await usageAfter(settle, program);
  const requests = await requestsTo([local], account);
  return {
    [`cold sync: first ${object} written after`]: [(firstAtMs - program.startedAtMs) / 1000, 's'],
    [`cold sync: all ${object}s written after`]: [(allAtMs - program.startedAtMs) / 1000, 's'],
    'cold sync: CPU': [cpuSeconds, 's'],
    'cold sync: peak memory': [peakMb, 'MB'],
    'settled memory': [residentMb, 'MB'],
    'requests to the remote cluster': [await requestsTo(remotes, account)],
    'requests to the local cluster': [requests],
    'cold sync: local requests without lists and watches': [total(requests, ['list', 'watch'])],
  };
}

/** Makes changes of one key, one for each pod of a workload, evenly over 5 s. */
export async function rollout({ watch }: Bench, changes: readonly Change[], signal: AbortSignal): Promise<Figures> {
  let begun = 0;
  let writes = 0;
  const startMs = performance.now();
  const seen = watch.until(
    ({ key, items, atMs }) => {
      if (key !== changes[0]?.key) return undefined;
      writes += 1;
      const isComplete = begun === changes.length && changes.every(({ item }) => items.includes(item));
      return isComplete ? atMs : undefined;
    },
    { signal },
  );
  const made = atRate(changes, changes.length / ROLLOUT_SECONDS, async ({ apply }) => {
    const done = apply();
    begun += 1;
    await done;
  });
  const [seenAtMs] = await Promise.all([seen, made]);
  const seconds = (seenAtMs - startMs) / 1000;
  return {
    'rollout: all addresses seen after': [seconds, 's'],
    'rollout: writes': [writes],
    // A slow machine needs longer than 5 s, and may write more.
    'rollout: writes per second': [writes / seconds],
  };
}

/** Lets a program settle, then measures it without changes. */
export async function idle(
  program: Program,
  { settle, idle: seconds }: Pick<RaceOptions, 'settle' | 'idle'>,
): Promise<Figures> {
  const before = await usageAfter(settle, program);
  const { cpuSeconds, residentMb } = await usageAfter(seconds, program);
  return {
    'idle: CPU of one core': [(100 * (cpuSeconds - before.cpuSeconds)) / seconds, '%'],
    'idle: memory': [residentMb, 'MB'],
  };
}
