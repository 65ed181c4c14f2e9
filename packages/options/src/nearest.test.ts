import { describe, expect, it } from 'vitest';
import { nearest } from './nearest.ts';

const flags = ['log-level', 'log-format', 'label-domain', 'target-cluster-name'];

describe('nearest', () => {
  it.each([
    { name: 'finds a swapped pair', raw: 'log-lveel', want: 'log-level' },
    { name: 'finds a missing letter', raw: 'log-leve', want: 'log-level' },
    { name: 'finds an extra letter', raw: 'log-levell', want: 'log-level' },
    { name: 'finds a replaced letter', raw: 'log_level', want: 'log-level' },
    { name: 'finds a shortened name', raw: 'target-cluster', want: 'target-cluster-name' },
    { name: 'suggests nothing for another word', raw: 'verbose', want: undefined },
    { name: 'suggests nothing for an empty word', raw: '', want: undefined },
  ])('$name', ({ raw, want }) => {
    expect(nearest(raw, flags)).toBe(want);
  });

  it('takes the first of equals', () => {
    expect(nearest('cat', ['bat', 'rat'])).toBe('bat');
  });
});
