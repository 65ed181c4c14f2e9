import { describe, expect, it } from 'vitest';
import { chooseDomain } from './label-domain.ts';

const OLD = 'semaphore.uw.systems';
const NEW = 'policy.semaphore.uw.io';

const pods = (old: readonly string[], newer: readonly string[]) =>
  new Map([
    [NEW, new Set(newer)],
    [OLD, new Set(old)],
  ]);

describe('chooseDomain', () => {
  it.each([
    { name: 'chooses no domain if no Pod has either', old: [], newer: [], want: undefined },
    { name: 'uses the older one', old: ['ns/a'], newer: [], want: { domain: OLD, overlooked: 0 } },
    { name: 'uses the newer one', old: [], newer: ['ns/a'], want: { domain: NEW, overlooked: 0 } },
    {
      name: 'uses the older one of both, and counts Pods with only the other',
      old: ['ns/a'],
      newer: ['ns/b', 'ns/c'],
      want: { domain: OLD, overlooked: 2 },
    },
    {
      name: 'counts no Pod that has both',
      old: ['ns/a', 'ns/b'],
      newer: ['ns/a', 'ns/b'],
      want: { domain: OLD, overlooked: 0 },
    },
  ])('$name', ({ old, newer, want }) => {
    expect(chooseDomain(pods(old, newer))).toEqual(want);
  });
});
