import { setImmediate as breathe } from 'node:timers/promises';
import type { Dice } from '@kube-semaphore/fault-proxy';
import type { BlockCounters } from './coverage.ts';
import { Reached } from './coverage.ts';
import type { Mutator } from './mutate.ts';

export type GuidedOptions = {
  readonly seeds: readonly Buffer[];
  readonly mutate: Mutator;
  /** Runs the code under test, and throws for an input that it must not fail at. */
  readonly read: (input: Buffer) => void;
  readonly counters: BlockCounters;
  readonly dice: Dice;
  /** When to stop: after so many inputs, or at a time of `Date.now()`. */
  readonly most: number;
  readonly until: number;
};

export type Guided = {
  readonly runs: number;
  /** The inputs that are mutated in the end, with the seeds. */
  readonly corpus: readonly Buffer[];
  /** How many blocks of code ran, by the seeds alone and by all. */
  readonly seedBlocks: number;
  readonly blocks: number;
};

/** Inputs between two looks at the counters. These cost 2 ms, and most inputs less than 20 µs. */
const BATCH = 4_096;
/** So many of each batch are looked at alone: only then is it known how often one runs a block. */
const ALONE = 16;

/**
 * Reads mutated inputs. One that runs a block that no earlier one ran, or that is seen to run one twice as often, is mutated later, too,
 * unless it is over twice as long as any seed.
 */
export async function guided(options: GuidedOptions): Promise<Guided> {
  const { seeds, mutate, counters, dice, most, until } = options;
  const longest = 2 * Math.max(...seeds.map(({ length }) => length));
  const reached = new Reached();
  const corpus = [...seeds];
  const countsOf = (inputs: readonly Buffer[]) => {
    for (const input of inputs) options.read(input);
    return counters.take();
  };
  /** The counters are of all inputs: their halves, the halves of these and so on are read again, until it is clear which are new. */
  const keepNew = (inputs: readonly Buffer[]): void => {
    const counts = countsOf(inputs);
    const isOne = inputs.length === 1;
    if (!reached.isNew(counts, isOne)) return;
    if (isOne && inputs[0]!.length <= longest) corpus.push(inputs[0]!);
    const half = Math.ceil(inputs.length / 2);
    if (!isOne) for (const part of [inputs.slice(0, half), inputs.slice(half)]) keepNew(part);
    // Also if no half is new: some blocks run once per process.
    reached.add(counts, isOne);
  };
  counters.take();
  for (const seed of seeds) reached.add(countsOf([seed]), true);
  let runs = 0;
  while (runs < most && Date.now() < until) {
    const inputs = Array.from({ length: Math.min(BATCH, most - runs) }, () => mutate(dice.pick(corpus), dice, 0));
    for (const input of inputs.slice(0, ALONE)) keepNew([input]);
    keepNew(inputs.slice(ALONE));
    runs += inputs.length;
    // vitest gives up on a worker that is silent for a minute.
    await breathe();
  }
  return { runs, corpus, seedBlocks: reached.blocksIn(countsOf(seeds)), blocks: reached.blocks };
}
