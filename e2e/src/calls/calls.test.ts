import { describe, expect, it } from 'vitest';
import { type Call, Calls, endsWith, outputIn, windowOf } from './calls.ts';

const call = (n: number, more: Partial<Call> = { by: 'web-0' }): Call => ({
  n,
  at: n * 10,
  ms: 1,
  port: 20_000 + n,
  ...more,
});
const lost = (n: number): Call => call(n, { error: 'timeout' });

describe('endsWith', () => {
  it.each([
    { name: 'accepts enough answers', calls: [call(0), call(1)], want: true },
    { name: 'ignores earlier failures', calls: [lost(0), call(1), call(2)], want: true },
    { name: 'requires enough answers', calls: [call(0)], want: false },
    { name: 'rejects a failure', calls: [call(0), lost(1)], want: false },
    { name: 'waits for a call in flight', calls: [call(0), call(2)], want: false },
  ])('$name', ({ calls, want }) => {
    expect(endsWith(calls, 2, ({ by }) => by !== undefined)).toBe(want);
  });
});

describe('windowOf', () => {
  const four = [call(0), call(1), call(2), call(3)];
  it.each([
    { name: 'takes the calls from its start to its end', calls: four, least: 1, want: [1, 2] },
    { name: 'waits for a call in flight', calls: [call(0), call(2), call(3)], least: 1, want: undefined },
    { name: 'waits for the first call after its end', calls: [call(0), call(1), call(2)], least: 1, want: undefined },
    { name: 'continues until there are enough calls', calls: [...four, call(4)], least: 3, want: [1, 2, 3] },
    { name: 'waits for enough calls', calls: four, least: 3, want: undefined },
  ])('$name', ({ calls, least, want }) => {
    expect(windowOf(calls, { startMs: 10, endMs: 30, least })?.calls.map(({ n }) => n)).toEqual(want);
  });

  it('lasts until the first call after it', () => {
    expect(windowOf([...four, call(4)], { startMs: 5, endMs: 10, least: 3 })?.ms).toBe(35);
  });
});

it('waits for enough calls, however short the change', async () => {
  let lines = '';
  let n = 0;
  const calls = new Calls(() => {
    for (let i = 0; i < 5; i++) lines += `${JSON.stringify(call(n++, { at: Date.now(), by: 'web-0' }))}\n`;
    return lines;
  });
  const { calls: seen, failed } = await calls.during(() => Promise.resolve());
  expect(seen.length).toBeGreaterThan(20);
  expect(failed).toEqual([]);
});

it('reads the output of a container', () => {
  const log =
    '2026-01-01T00:00:00.1Z stdout F {"n":0}\n2026-01-01T00:00:00.2Z stderr F oops\n2026-01-01T00:00:00.3Z stdout F {"n":1}\n';
  expect(outputIn(log)).toBe('{"n":0}\n2026-01-01T00:00:00.2Z stderr F oops\n{"n":1}\n');
});

it('reads complete lines, in the order in which the calls began', () => {
  const text = [call(1), lost(0)].map((each) => JSON.stringify(each)).join('\n');
  expect(new Calls(() => `noise\n${text}\n{"n":2`).all()).toEqual([lost(0), call(1)]);
});

it('reads a line that was incomplete, and none twice', () => {
  let text = `${JSON.stringify(call(0))}\n{"n":1`;
  const calls = new Calls(() => text);
  expect(calls.all()).toEqual([call(0)]);
  text = `${JSON.stringify(call(0))}\n${JSON.stringify(call(1))}\n`;
  expect(calls.all()).toEqual([call(0), call(1)]);
});

it('waits until one Pod answers, and no other', async () => {
  let n = 0;
  const output: string[] = [];
  const calls = new Calls(() => {
    output.push(`${JSON.stringify(call(n, { at: Date.now(), by: n < 3 ? 'web-0' : 'web-1' }))}\n`);
    n++;
    return output.join('');
  });
  await calls.answered(2, 'web-1');
  expect(
    calls
      .all()
      .slice(-3)
      .map(({ by }) => by),
  ).toEqual(['web-1', 'web-1', 'web-1']);
});
