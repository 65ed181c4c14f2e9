import { describe, expect, it } from 'vitest';
import { judge, renderVerdict, type Sample } from './verdict.ts';

const MINUTE_MS = 60_000;

/** A sample each minute of an hour. */
const hour = (heapAt: (minute: number) => number): Sample[] =>
  Array.from({ length: 61 }, (_, minute) => ({ atMs: minute * MINUTE_MS, figures: { heap: heapAt(minute) } }));

describe('judge', () => {
  it.each([
    { name: 'is flat while it stays in a range', heapAt: (minute: number) => 20 + Math.sin(minute), grows: false },
    {
      name: 'is flat if it grew in the first third',
      heapAt: (minute: number) => 20 + Math.min(minute, 20),
      grows: false,
    },
    { name: 'is flat if it falls', heapAt: (minute: number) => 20 - minute / 10, grows: false },
    { name: 'is flat with one sample far off', heapAt: (minute: number) => (minute === 59 ? 500 : 20), grows: false },
    {
      name: 'grows by a little each minute',
      heapAt: (minute: number) => 20 + Math.sin(minute) + minute / 30,
      grows: true,
    },
    { name: 'grows in steps', heapAt: (minute: number) => 20 + Math.floor(minute / 10) / 3, grows: true },
  ])('$name', ({ heapAt, grows }) => {
    expect(judge(hour(heapAt), { heap: 1 })).toEqual([expect.objectContaining({ figure: 'heap', grows })]);
  });

  it('takes the gain after the first third, and four values of the whole', () => {
    const [judged] = judge(
      hour((minute) => (minute < 20 ? 10 : minute / 2)),
      { heap: 100 },
    );
    expect(judged).toMatchObject({ values: [10, 10, 20, 30], grows: false });
    expect(judged!.gain).toBeCloseTo(20, 6);
  });

  it('does not judge a figure without a bound', () => {
    expect(
      judge(
        hour((minute) => minute),
        {},
      ),
    ).toEqual([expect.objectContaining({ bound: undefined, grows: false })]);
  });
});

it('has a line for each figure', () => {
  const table = renderVerdict(
    judge(
      hour((minute) => minute),
      { heap: 1 },
    ),
  );
  expect(table).toMatch(/^\| heap \| +0 \| +20 \| +40 \| +60 \| +40\.0 \| +1 \| GROWS \|$/m);
});
