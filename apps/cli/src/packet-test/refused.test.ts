import { describe, expect, it } from 'vitest';
import { refusedSince } from './refused.ts';

describe('refusedSince', () => {
  it.each([
    { name: 'counts what was added', before: 3, after: 21, want: 18 },
    { name: 'counts nothing of a new device', before: 30, after: 2, want: 0 },
    { name: 'knows nothing without the count before', before: undefined, after: 21, want: 0 },
    { name: 'knows nothing without the count after', before: 3, after: undefined, want: 0 },
  ])('$name', ({ before, after, want }) => {
    const counted = (count: number | undefined) => new Map(count === undefined ? [] : [['c1', count]]);
    expect(refusedSince(counted(before), counted(after), 'c1')).toBe(want);
    expect(refusedSince(counted(before), counted(after), 'c3')).toBe(0);
    expect(refusedSince(counted(before), counted(after), undefined)).toBe(0);
  });
});
