import { setImmediate as breathe } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Dice } from '@kube-semaphore/fault-proxy';
import { superlinearAt } from '../growth.ts';
import type { Mutator } from './mutate.ts';

/** A function that reads what others wrote, and what it may do with it. */
export type FuzzTarget = {
  /** Valid inputs, at least one. */
  readonly seeds: readonly Buffer[];
  readonly mutate: Mutator;
  /** What it returns is what it holds of the input. It throws an error that isn't expected if that is wrong. */
  readonly run: (input: Buffer) => unknown;
  /** Whether it is one of the errors that its docstring names. */
  readonly isExpected: (error: unknown) => boolean;
};

const KIB = 1_024;
const MIB = KIB * KIB;

/** Inputs of a test in CI. */
const RUNS = 8;

/** From this size on, what is held and how long it takes can be told from noise. */
const LARGE_BYTES = 64 * KIB;

const MOST_TIMES_HELD = 20;
/**
 * And what may be held besides. The codec gives small objects 64 KiB. Of what was refused in protobuf, eight runs held 5 kB each
 * at most, and frames 67 kB; a single run of YAML left behind far more.
 */
const ALLOWED_BYTES = 128 * KIB;
/** As many runs are held together as take this long, and eight at most or when one holds too much. */
const HELD_MS = 50;
const MOST_HELD_BYTES = 256 * MIB;

/** How much longer than a valid input of the same size one may take, before it is looked into how the time grows. */
const SUSPICIOUS = 10;
/** And how much longer a small one may take, whose time can't be told from its growth. */
const EXCESSIVE = 1_000;
/** The kernel counts CPU time by ticks of up to 10 ms. */
const LEAST_MS = 50;

/**
 * Reads inputs that are made up from the valid ones: 8, or for FUZZ_SECONDS. Each follows from a number: those from
 * FUZZ_SEED on, or from 1 on, or from a random one with FUZZ_SECONDS. What is wrong names the number.
 *
 * @returns how many were read, and the number of the first
 * @throws Error if one makes the function throw what it may not, take more than linear time, or hold too much
 */
export async function fuzz(target: FuzzTarget): Promise<{ readonly runs: number; readonly seed: number }> {
  const { FUZZ_SEED: first, FUZZ_SECONDS: seconds, FUZZ_RUNS: count } = process.env;
  const seed = Number(first ?? (seconds === undefined ? 1 : Math.floor(Math.random() * 2 ** 31)));
  const most = count === undefined && seconds !== undefined ? Infinity : Number(count ?? RUNS);
  const until = Date.now() + Number(seconds ?? Infinity) * 1_000;
  const usualMs = usualCost(target);
  let runs = 0;
  for (; runs < most && Date.now() < until; runs++) {
    const problem = problemOf(target, seed + runs, usualMs);
    if (problem !== undefined)
      throw new Error(`FUZZ_SEED=${seed + runs} FUZZ_RUNS=1: ${problem.words}`, { cause: problem.cause });
    // A test runner that isn't answered for a minute gives up.
    if (runs % 50 === 49) await breathe();
  }
  return { runs, seed };
}

type Problem = { readonly words: string; readonly cause?: unknown };

function problemOf(target: FuzzTarget, seed: number, usualMs: number): Problem | undefined {
  const input = inputOf(target, seed);
  const { outcome, ms } = timed(target, input);
  if ('error' in outcome && !target.isExpected(outcome.error)) {
    return { words: `it throws ${String(outcome.error)} for ${excerpt(input)}`, cause: outcome.error };
  }
  const allowed = MOST_TIMES_HELD * input.length + ALLOWED_BYTES;
  const times = Math.min(8, Math.max(1, Math.floor(HELD_MS / ms)));
  const suspected = input.length < LARGE_BYTES ? 0 : heldBy(target, input, times);
  // What the last run alone left behind, as in a regular expression, is a small part of eight.
  const held = suspected > allowed && times < 8 ? Math.min(suspected, heldBy(target, input, 8)) : suspected;
  if (held > allowed) return { words: `it holds ${held} bytes for ${excerpt(input)}` };
  return slowness(target, { seed, input, ms, usualMs });
}

type Run = { readonly seed: number; readonly input: Buffer; readonly ms: number; readonly usualMs: number };

function slowness(target: FuzzTarget, { seed, input, ms, usualMs }: Run): Problem | undefined {
  const expectedMs = usualMs * input.length;
  if (ms < LEAST_MS + SUSPICIOUS * expectedMs) return undefined;
  // A grown one may be cut.
  if (input.length < LARGE_BYTES / 2) {
    const again = Math.min(ms, timed(target, input).ms, timed(target, input).ms);
    return again > LEAST_MS + EXCESSIVE * expectedMs
      ? { words: `it takes ${again} ms for ${excerpt(input)}` }
      : undefined;
  }
  // A square takes sixteen times as long. It is cheap to see, and then what takes long is measured well.
  if (ms < LEAST_MS + 8 * timed(target, inputOf(target, seed, input.length / 4)).ms) return undefined;
  const at = superlinearAt({ input: (bytes) => inputOf(target, seed, bytes), work: (larger) => timed(target, larger) });
  return at === undefined
    ? undefined
    : { words: `it takes more than linear time from ${at} bytes on: ${excerpt(input)}` };
}

/** One of four is large. @param bytes how large then, in the place of what the dice say */
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
    // Until its stack is read, as by all that log it, an error holds what the functions on the stack were called on.
    if (error instanceof Error) void error.stack;
    return { error };
  }
}

/** Milliseconds for each byte of the valid inputs, as good as they can be told. */
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

/** What an outcome holds, in bytes: the mean of several, as V8 has uses of its own for memory. */
function heldBy({ run }: FuzzTarget, input: Buffer, times: number): number {
  const outcomes: Outcome[] = [];
  const before = liveBytes();
  const isFull = (): boolean => process.memoryUsage().heapUsed > before + MOST_HELD_BYTES;
  while (outcomes.length === 0 || (outcomes.length < times && !isFull())) outcomes.push(outcomeOf(run, input));
  const held = liveBytes() - before;
  // Read after the measurement, or the outcomes would be garbage by then.
  return Math.round(held / outcomes.length);
}

let collectGarbage: (() => void) | undefined;

function liveBytes(): number {
  if (collectGarbage === undefined) {
    setFlagsFromString('--expose-gc');
    collectGarbage = runInNewContext('gc') as () => void;
  }
  // What lies outside of V8's heap is given back behind the first collection.
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Enough of an input to see what it is; its number makes all of it again. */
const excerpt = (input: Buffer): string => `${input.length} bytes, ${JSON.stringify(input.toString('latin1', 0, 160))}`;
