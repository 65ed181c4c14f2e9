import { setImmediate as breathe } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Dice } from '@kube-semaphore/fault-proxy';
import { superlinearAt } from '../growth.ts';
import { BlockCounters } from './coverage.ts';
import { guided } from './guided.ts';
import type { Mutator } from './mutate.ts';

/** A function that reads foreign input, and what it may do. */
export type FuzzTarget = {
  /** Valid inputs, at least one. */
  readonly seeds: readonly Buffer[];
  readonly mutate: Mutator;
  /** Returns what it keeps of the input. Throws an unexpected error if that is wrong. */
  readonly run: (input: Buffer) => unknown;
  /** Whether the function's docstring names this error. */
  readonly isExpected: (error: unknown) => boolean;
};

const KIB = 1_024;
const MIB = KIB * KIB;

/** The numbers of inputs in CI: of all sizes, and small. */
const RUNS = 8;
const SMALL_RUNS = 2_000;

/** From this size on, memory and time can be measured. */
const LARGE_BYTES = 64 * KIB;

const MOST_TIMES_HELD = 20;
/**
 * Memory allowed in addition. The codec gives small objects 64 KiB. Eight runs of refused protobuf held at most 5 kB each, and
 * frames 67 kB; a single run of YAML held far more.
 */
const ALLOWED_BYTES = 128 * KIB;
/** Runs are measured together for this long: at most eight, or until one holds too much. */
const HELD_MS = 50;
const MOST_HELD_BYTES = 256 * MIB;

/** An input that takes so many times longer than a valid one of its size is checked for growth. */
const SUSPICIOUS = 10;
/** The same limit for small inputs, whose growth can't be measured. */
const EXCESSIVE = 1_000;
/** The kernel counts CPU time by ticks of up to 10 ms. */
const LEAST_MS = 50;

/** Made before the code under test runs, because functions that ran before have no counters. */
const counters = process.env['FUZZ_SMALL'] === undefined ? undefined : new BlockCounters();

/**
 * Reads mutated inputs. In CI, the same each time: 8 of all sizes, and {@link SMALL_RUNS} small ones. With FUZZ_RUNS, so many of all
 * sizes; with FUZZ_SECONDS, others; with FUZZ_SMALL too, small ones that follow coverage, and it prints what it reached. If that takes
 * longer than FUZZ_SECONDS, the rest of FUZZ_RUNS is mutated from what it has found, without counting.
 *
 * The error says how to read the input again: by its number in FUZZ_SEED, or a small one as FUZZ_INPUT.
 *
 * @returns the count of inputs, and the number of the first
 * @throws Error if an input causes an unexpected error, more than linear time, or too much memory
 */
export async function fuzz(target: FuzzTarget): Promise<{ readonly runs: number; readonly seed: number }> {
  const { FUZZ_SEED: first, FUZZ_SECONDS: seconds, FUZZ_RUNS: count, FUZZ_INPUT: known } = process.env;
  const seed = Number(first ?? (seconds === undefined ? 1 : Math.floor(Math.random() * 2 ** 31)));
  const until = Date.now() + Number(seconds ?? Infinity) * 1_000;
  const usualMs = usualCost(target);
  if (known !== undefined) {
    readSmall(target, Buffer.from(known, 'base64'), usualMs);
    return { runs: 1, seed };
  }
  if (counters !== undefined) {
    const limits = { seed, most: Number(count ?? Infinity), until, usualMs };
    return { runs: await withoutStacks(() => follow(target, counters, limits)), seed };
  }
  const isInCi = [first, seconds, count].every((given) => given === undefined);
  const most = Number(count ?? (seconds === undefined ? RUNS : Infinity));
  const runs = await readAllSizes(target, { seed, most, until, usualMs });
  if (seconds !== undefined) process.stdout.write(`${runs} inputs from ${seed} on\n`);
  if (isInCi) await withoutStacks(() => readManySmall(target, usualMs));
  return { runs: isInCi ? runs + SMALL_RUNS : runs, seed };
}

type Limits = { readonly seed: number; readonly most: number; readonly until: number; readonly usualMs: number };

async function readAllSizes(target: FuzzTarget, { seed, most, until, usualMs }: Limits): Promise<number> {
  let runs = 0;
  for (; runs < most && Date.now() < until; runs++) {
    const problem = problemOf(target, seed + runs, usualMs);
    if (problem !== undefined)
      throw new Error(`FUZZ_SEED=${seed + runs} FUZZ_RUNS=1: ${problem.words}`, { cause: problem.cause });
    // vitest gives up on a worker that is silent for a minute.
    if (runs % 50 === 49) await breathe();
  }
  return runs;
}

async function follow(target: FuzzTarget, by: BlockCounters, limits: Limits): Promise<number> {
  const { seed, usualMs, most, until } = limits;
  const read = (input: Buffer): void => readSmall(target, input, usualMs);
  const dice = new Dice(seed);
  const rateOf = stopwatch();
  const found = await guided({ ...target, most, until, read, counters: by, dice });
  process.stdout.write(
    `${found.runs} inputs, ${rateOf(found.runs)} per second of CPU time; the seeds reach ${found.seedBlocks} blocks, ` +
      `all ${found.blocks}, which makes ${found.corpus.length} inputs to mutate\n`,
  );
  const rest = Number.isFinite(most) ? most - found.runs : 0;
  if (rest === 0) return found.runs;
  by.stop();
  const restRateOf = stopwatch();
  for (let run = 0; run < rest; run++) {
    read(target.mutate(dice.pick(found.corpus), dice, 0));
    if (run % SMALL_RUNS === 0) await breathe();
  }
  process.stdout.write(`${rest} more inputs, ${restRateOf(rest)} per second of CPU time\n`);
  return most;
}

/** Tells how many of something there were in a second of CPU time from now on. */
function stopwatch(): (count: number) => number {
  const began = process.cpuUsage();
  return (count) => {
    const { user, system } = process.cpuUsage(began);
    return Math.round((count * 1e6) / (user + system));
  };
}

async function readManySmall(target: FuzzTarget, usualMs: number): Promise<void> {
  const dice = new Dice(1);
  for (let run = 0; run < SMALL_RUNS; run++)
    readSmall(target, target.mutate(dice.pick(target.seeds), dice, 0), usualMs);
}

/** Of a small input, only errors and time count: measuring its memory would take a hundred times as long as reading it. */
function readSmall(target: FuzzTarget, input: Buffer, usualMs: number): void {
  const began = performance.now();
  const problem = surprise(target, input) ?? tooSlow(target, { input, ms: performance.now() - began, usualMs });
  if (problem === undefined) return;
  throw new Error(`FUZZ_INPUT=${input.toString('base64')}: ${problem.words}`, { cause: problem.cause });
}

type Problem = { readonly words: string; readonly cause?: unknown };

function surprise(target: FuzzTarget, input: Buffer): Problem | undefined {
  try {
    target.run(input);
    return undefined;
  } catch (error) {
    return target.isExpected(error) ? undefined : unexpected(error, input);
  }
}

const unexpected = (error: unknown, input: Buffer): Problem => ({
  words: `it throws ${String(error)} for ${excerpt(input)}`,
  cause: error,
});

/** Most inputs are refused by an error, whose stack takes longer than to read them. */
async function withoutStacks<T>(work: () => Promise<T>): Promise<T> {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return await work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function problemOf(target: FuzzTarget, seed: number, usualMs: number): Problem | undefined {
  const input = inputOf(target, seed);
  const { outcome, ms } = timed(target, input);
  if ('error' in outcome && !target.isExpected(outcome.error)) return unexpected(outcome.error, input);
  const allowed = MOST_TIMES_HELD * input.length + ALLOWED_BYTES;
  const times = Math.min(8, Math.max(1, Math.floor(HELD_MS / ms)));
  const suspected = input.length < LARGE_BYTES ? 0 : heldBy(target, input, times);
  // Memory that only the last run holds, as in a regular expression, counts for an eighth.
  const held = suspected > allowed && times < 8 ? Math.min(suspected, heldBy(target, input, 8)) : suspected;
  if (held > allowed) return { words: `it holds ${held} bytes for ${excerpt(input)}` };
  return slowness(target, { seed, input, ms, usualMs });
}

type Run = { readonly input: Buffer; readonly ms: number; readonly usualMs: number };

function tooSlow(target: FuzzTarget, { input, ms, usualMs }: Run): Problem | undefined {
  const limitMs = LEAST_MS + EXCESSIVE * usualMs * input.length;
  if (ms < limitMs) return undefined;
  const again = Math.min(timed(target, input).ms, timed(target, input).ms);
  return again > limitMs ? { words: `it takes ${again} ms for ${excerpt(input)}` } : undefined;
}

function slowness(target: FuzzTarget, { seed, ...run }: Run & { readonly seed: number }): Problem | undefined {
  const { input, ms, usualMs } = run;
  // A grown input may be cut.
  if (input.length < LARGE_BYTES / 2) return tooSlow(target, run);
  if (ms < LEAST_MS + SUSPICIOUS * usualMs * input.length) return undefined;
  // Quadratic time is sixteen times longer: a cheap check before the exact one.
  if (ms < LEAST_MS + 8 * timed(target, inputOf(target, seed, input.length / 4)).ms) return undefined;
  const at = superlinearAt({ input: (bytes) => inputOf(target, seed, bytes), work: (larger) => timed(target, larger) });
  return at === undefined
    ? undefined
    : { words: `it takes more than linear time from ${at} bytes on: ${excerpt(input)}` };
}

/** One input in four is large. @param bytes its size, instead of a random one */
function inputOf({ seeds, mutate }: FuzzTarget, seed: number, bytes?: number): Buffer {
  const dice = new Dice(seed);
  const large = dice.integer(0, 3) === 0 ? LARGE_BYTES * dice.pick([1, 1, 2, 4, 16]) : 0;
  return mutate(dice.pick(seeds), dice, bytes ?? large);
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

function timed({ run }: FuzzTarget, input: Buffer): { readonly outcome: Outcome; readonly ms: number } {
  const before = process.threadCpuUsage();
  const outcome = outcomeOf(run, input);
  const { user, system } = process.threadCpuUsage(before);
  return { outcome, ms: (user + system) / 1_000 };
}

function outcomeOf(run: FuzzTarget['run'], input: Buffer): Outcome {
  try {
    return { value: run(input) };
  } catch (error) {
    // Until its stack is read, an error holds the receivers of the functions on the stack.
    if (error instanceof Error) void error.stack;
    return { error };
  }
}

/** Milliseconds for each byte of the valid inputs. */
function usualCost(target: FuzzTarget): number {
  const bytes = target.seeds.reduce((sum, { length }) => sum + length, 0);
  const rounds = Math.max(2, Math.ceil(LARGE_BYTES / bytes));
  const once = (): number => {
    let sum = 0;
    for (let round = 0; round < rounds; round++) for (const seed of target.seeds) sum += timed(target, seed).ms;
    return sum;
  };
  return Math.min(once(), once()) / (rounds * bytes);
}

/** The bytes that an outcome holds: the mean of several, because V8 uses memory, too. */
function heldBy({ run }: FuzzTarget, input: Buffer, times: number): number {
  const outcomes: Outcome[] = [];
  const before = liveBytes();
  const isFull = (): boolean => process.memoryUsage().heapUsed > before + MOST_HELD_BYTES;
  while (outcomes.length === 0 || (outcomes.length < times && !isFull())) outcomes.push(outcomeOf(run, input));
  const held = liveBytes() - before;
  // Used after the measurement, so that the outcomes aren't garbage before it.
  return Math.round(held / outcomes.length);
}

let collectGarbage: (() => void) | undefined;

function liveBytes(): number {
  if (collectGarbage === undefined) {
    setFlagsFromString('--expose-gc');
    collectGarbage = runInNewContext('gc') as () => void;
  }
  // The first collection frees memory outside V8's heap only later.
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The beginning of an input; its number reproduces all of it. */
const excerpt = (input: Buffer): string => `${input.length} bytes, ${JSON.stringify(input.toString('latin1', 0, 160))}`;
