import { describe, expect, it } from 'vitest';
import type { Holder } from './address-index.ts';
import { lateAtMs, lossOf } from './late-pod.ts';

const DELETION_MS = Date.parse('2026-01-01T00:00:30Z');
const late: Holder = { pod: 'beta/web', created: 0, deletionMs: DELETION_MS };
const other: Holder = { pod: 'gamma/other', created: 0 };

it('a Pod is late a minute after it should be gone', () => {
  expect(lateAtMs(late)).toBe(DELETION_MS + 60_000);
  expect(lateAtMs(other)).toBe(undefined);
});

describe('lossOf', () => {
  const addresses = ['10.4.0.20', 'fd00:4::20'];
  const byOther =
    ({ of = '10.4.0.20' } = {}) =>
    (address: string) =>
      address === of ? other : late;
  const reused =
    'beta/web should be gone since 2026-01-01T00:00:30.000Z, and gamma/other has its address 10.4.0.20 now';

  it('takes an address that another Pod has now, and names both', () => {
    expect(lossOf(late, addresses, { ownerOf: byOther(), isTimeEnough: false })).toEqual({
      lost: ['10.4.0.20'],
      skipped: [{ kind: 'problem', reason: 'address-reused', detail: reused }],
    });
  });

  it('names addresses without a prefix', () => {
    const ownerOf = byOther({ of: '10.4.0.20/32' });
    expect(lossOf(late, ['10.4.0.20/32'], { ownerOf, isTimeEnough: false }).skipped[0]?.detail).toBe(reused);
  });

  it('has words for every time that a remote may say', () => {
    const hostile = { ...late, deletionMs: Number.MIN_SAFE_INTEGER * 1000 };
    const { skipped } = lossOf(hostile, addresses, { ownerOf: byOther(), isTimeEnough: true });
    expect(skipped[0]?.detail).toContain('since 1970-01-01T00:00:00.000Z');
  });

  it('takes nothing from a Pod that still has its address, or of which nothing is known', () => {
    for (const ownerOf of [() => late, () => undefined])
      expect(lossOf(late, addresses, { ownerOf, isTimeEnough: false })).toEqual({ lost: [], skipped: [] });
  });

  it('takes every address where the time is enough, and says which have no known owner', () => {
    const { lost, skipped } = lossOf(late, addresses, { ownerOf: byOther(), isTimeEnough: true });
    expect(lost).toEqual(addresses);
    expect(skipped.map(({ reason }) => reason)).toEqual(['address-reused', 'deletion-overdue']);
    expect(skipped[1]?.detail).toMatch(/ so who has fd00:4::20 now is not known$/);
    expect(lossOf(late, [], { ownerOf: byOther(), isTimeEnough: true }).skipped).toEqual([]);
  });
});
