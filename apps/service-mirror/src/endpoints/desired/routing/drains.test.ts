import { describe, expect, it } from 'vitest';
import { readDrains } from './drains.ts';

const nothing = { since: null, by: null, reason: null };

describe('readDrains', () => {
  it('reads who drained which cluster, when and why, sorted by cluster', () => {
    const c3 = JSON.stringify({ since: '2026-01-02T03:04:05Z', by: 'jane', reason: 'new kernels' });
    expect(readDrains({ c3, c2: '{}' })).toEqual([
      { cluster: 'c2', ...nothing },
      { cluster: 'c3', since: '2026-01-02T03:04:05.000Z', by: 'jane', reason: 'new kernels' },
    ]);
  });

  it.each([
    { name: 'a text written by hand', value: 'new kernels', want: { ...nothing, reason: 'new kernels' } },
    { name: 'nothing', value: '', want: nothing },
    { name: 'JSON that is no object', value: '7', want: { ...nothing, reason: '7' } },
    { name: 'fields of other types', value: '{"since":1,"by":{},"reason":[]}', want: nothing },
    { name: 'a time that is none', value: '{"since":"soon"}', want: nothing },
    { name: 'a long text', value: 'x'.repeat(2_000), want: { ...nothing, reason: 'x'.repeat(1_024) } },
  ])('drains a cluster by its key alone, with $name', ({ value, want }) => {
    expect(readDrains({ c2: value })).toEqual([{ cluster: 'c2', ...want }]);
  });
});
