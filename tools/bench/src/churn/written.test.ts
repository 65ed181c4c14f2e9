import { describe, expect, it } from 'vitest';
import { undone, writtenName } from './written.ts';

describe('undone', () => {
  const before = new Set(['a', 'b']);

  it.each([
    { name: 'is nothing if one has a new name', names: ['b', 'c'], newThings: 9, want: undefined },
    { name: 'is nothing if no thing is new', names: ['a', 'b'], newThings: 0, want: undefined },
    { name: 'is nothing if only the drains are new', names: ['a', 'b'], newThings: 1, want: undefined },
    {
      name: 'is all if an app hangs',
      names: ['a', 'b'],
      newThings: 2,
      want: 'no written object has a new name, after 2 new things',
    },
    { name: 'is one that is missing', names: ['c'], newThings: 2, want: '1 objects are written instead of 2' },
    { name: 'is one too many', names: ['a', 'b', 'c'], newThings: 2, want: '3 objects are written instead of 2' },
  ])('$name', ({ names, newThings, want }) => {
    expect(undone(new Set(names), { count: 2, before, newThings })).toBe(want);
  });
});

it('calls an object the same by each of its collections', () => {
  const object = { apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'shop', name: 'web' } };
  expect(writtenName('/api/v1/services', object)).toBe('services shop/web');
  expect(writtenName('/api/v1/namespaces/shop/services', object)).toBe('services shop/web');
});
