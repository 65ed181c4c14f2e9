import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Limiter } from './limiter.ts';

/** Calls that run until they are answered, by name. */
function hangingCalls(limit: number) {
  const limiter = new Limiter(limit);
  const started: string[] = [];
  const answers = new Map<string, () => void>();
  const run = (account: string | undefined, name: string) =>
    limiter.run(account, () => {
      started.push(name);
      return new Promise<void>((resolve) => answers.set(name, resolve));
    });
  const answer = async (name: string) => {
    answers.get(name)!();
    await new Promise(setImmediate);
  };
  return { started, run, answer };
}
const names = (account: string, count: number) => Array.from({ length: count }, (_, i) => `${account}-${i}`);

it('runs at most the limit of calls at once, those of an account in their order', async () => {
  const limiter = new Limiter(3);
  const started: number[] = [];
  let running = 0;
  const calls = Array.from({ length: 6 }, (_, index) =>
    limiter.run('c2', async () => {
      started.push(index);
      expect(++running).toBeLessThanOrEqual(2);
      await Promise.resolve();
      running--;
      return index;
    }),
  );
  expect(await Promise.all(calls)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(started).toEqual([0, 1, 2, 3, 4, 5]);
});

it('frees the place of a failed call', async () => {
  const limiter = new Limiter(1);
  await expect(limiter.run('c2', () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(await limiter.run('c2', async () => 'next')).toBe('next');
});

it('leaves turns to others, however many calls of an account have no answer', () => {
  const { started, run } = hangingCalls(16);
  for (const name of names('c3', 100)) void run('c3', name);
  expect(started).toEqual(names('c3', 8));
  for (const name of names('c4', 100)) void run('c4', name);
  for (const name of names('none', 100)) void run(undefined, name);
  void run('c2', 'withdrawal');
  expect(started.slice(8)).toEqual([...names('c4', 4), ...names('none', 2), 'withdrawal']);
});

it('gives a turn to each waiting account before one gets its second', async () => {
  const { started, run, answer } = hangingCalls(2);
  for (const name of [...names('c3', 3), ...names('c2', 3)]) void run(name.slice(0, 2), name);
  expect(started).toEqual(['c3-0', 'c2-0']);
  await answer('c3-0');
  await answer('c2-0');
  await answer('c3-1');
  await answer('c2-1');
  expect(started).toEqual(['c3-0', 'c2-0', 'c3-1', 'c2-1', 'c3-2', 'c2-2']);
});

it('never exceeds the limit, and begins a call of an account that has none while a turn is free', async () => {
  const call = fc.record({ account: fc.constantFrom('a', 'b', 'c'), answered: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.array(call, { maxLength: 60 }), async (limit, calls) => {
      const { started, run, answer } = hangingCalls(limit);
      const running = () => started.filter((name) => !answered.has(name));
      const answered = new Set<string>();
      const asked: string[] = [];
      for (const [i, { account, answered: isAnswered }] of calls.entries()) {
        asked.push(`${account}${i}`);
        void run(account, `${account}${i}`);
        const [first] = running();
        if (isAnswered && first !== undefined) {
          answered.add(first);
          await answer(first);
        }
        const busy = running();
        expect(busy.length).toBeLessThanOrEqual(limit);
        const starving = asked.filter((name) => !started.includes(name) && !busy.some((each) => each[0] === name[0]));
        expect(busy.length === limit ? [] : starving).toEqual([]);
      }
    }),
  );
});
