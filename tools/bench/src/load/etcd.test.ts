import { describe, expect, it } from 'vitest';
import { type Entry, transactions } from './etcd.ts';

type Body = { success: { requestPut: { key: string; value: string } }[] };

const entries = (count: number, bytes: number): Entry[] =>
  Array.from({ length: count }, (_, index) => ({
    key: `/registry/pods/ns/${index}`,
    value: Buffer.alloc(bytes, index),
  }));

const bodies = (all: readonly Entry[]) => [...transactions(all)].map((body) => JSON.parse(body) as Body);

describe('transactions', () => {
  it('write every entry once, in order', () => {
    const all = entries(300, 10);
    const puts = bodies(all).flatMap(({ success }) => success.map(({ requestPut }) => requestPut));
    const decode = (base64: string) => Buffer.from(base64, 'base64');
    expect(puts.map(({ key, value }) => ({ key: decode(key).toString(), value: decode(value) }))).toEqual(all);
  });

  it.each([
    { name: 'of small entries have 128 of them', count: 300, bytes: 10, want: [128, 128, 44] },
    { name: 'of large entries have 1 MiB of them', count: 5, bytes: 500_000, want: [2, 2, 1] },
    { name: 'have a larger entry alone', count: 2, bytes: 1_200_000, want: [1, 1] },
    { name: 'don’t exist without entries', count: 0, bytes: 0, want: [] },
  ])('$name', ({ count, bytes, want }) => {
    expect(bodies(entries(count, bytes)).map(({ success }) => success.length)).toEqual(want);
  });
});
