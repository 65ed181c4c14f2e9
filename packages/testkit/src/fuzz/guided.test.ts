import { Dice } from '@kube-semaphore/fault-proxy';
import { afterAll, expect, it } from 'vitest';
import { BlockCounters } from './coverage.ts';
import { guided } from './guided.ts';

const counters = new BlockCounters((url) => url === import.meta.url);
afterAll(() => counters.stop());

/** Throws only if all four bytes are right, with a block of its own for each. */
function readWord(input: Buffer): void {
  if (input[0] !== 0x64) return;
  if (input[1] !== 0x63) return;
  if (input[2] !== 0x62) return;
  if (input[3] === 0x61) throw new Error('the word is read');
}

/** Throws only if three bytes are right, which one block reads. */
function readRow(input: Buffer): void {
  let read = 0;
  while (input[read] === 0x61) read++;
  if (read === 3) throw new Error('the row is read');
}

it.each([
  { name: 'a block of code', read: readWord, error: 'the word is read' },
  { name: 'the same block twice as often', read: readRow, error: 'the row is read' },
])('an input that reaches $name is mutated again', async ({ read, error }) => {
  const mutate = (seed: Buffer, dice: Dice): Buffer => {
    const one = Buffer.from(seed);
    one[dice.integer(0, 3)] = dice.integer(0x61, 0x64);
    return one;
  };
  const found = guided({
    seeds: [Buffer.from('zzzz')],
    mutate,
    read,
    counters,
    dice: new Dice(1),
    most: 500_000,
    until: Infinity,
  });
  // Each mutation changes one byte, so none of the seed is right.
  await expect(found).rejects.toThrow(error);
});

it('counts the blocks that the seeds reach, and all that are reached', async () => {
  const read = (input: Buffer): void => {
    if (input.length > 4) Buffer.from(input);
  };
  const mutate = (seed: Buffer): Buffer => Buffer.concat([seed, Buffer.from('a')]);
  const options = { mutate, read, counters, dice: new Dice(1), most: 3, until: Infinity };
  const found = await guided({ ...options, seeds: [Buffer.from('aaaa')] });
  expect([found.runs, found.corpus.map(String)]).toEqual([3, ['aaaa', 'aaaaa']]);
  expect(found.blocks).toBeGreaterThan(found.seedBlocks);
});
