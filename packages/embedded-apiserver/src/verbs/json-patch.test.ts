import { describe, expect, it } from 'vitest';
import { jsonPatch, type Operation } from './json-patch.ts';

const target = { a: 1, list: ['x', 'y'], deep: { 'with/slash': 1, 'with~tilde': 2 } };

describe('jsonPatch', () => {
  it.each<{ name: string; operation: Operation; want: object }>([
    { name: 'adds a field', operation: { op: 'add', path: '/b', value: 2 }, want: { b: 2 } },
    { name: 'adds over a field', operation: { op: 'add', path: '/a', value: 2 }, want: { a: 2 } },
    { name: 'inserts an item', operation: { op: 'add', path: '/list/1', value: 'z' }, want: { list: ['x', 'z', 'y'] } },
    { name: 'appends an item', operation: { op: 'add', path: '/list/-', value: 'z' }, want: { list: ['x', 'y', 'z'] } },
    { name: 'removes an item', operation: { op: 'remove', path: '/list/0' }, want: { list: ['y'] } },
    { name: 'replaces an item', operation: { op: 'replace', path: '/list/0', value: 1 }, want: { list: [1, 'y'] } },
    { name: 'replaces a missing field', operation: { op: 'replace', path: '/b', value: 1 }, want: { b: 1 } },
    {
      name: 'moves a field',
      operation: { op: 'move', from: '/a', path: '/deep/a' },
      want: { a: undefined, deep: { ...target.deep, a: 1 } },
    },
    { name: 'copies a list', operation: { op: 'copy', from: '/list', path: '/copy' }, want: { copy: ['x', 'y'] } },
    {
      name: 'reads ~1 as a slash',
      operation: { op: 'replace', path: '/deep/with~1slash', value: 3 },
      want: { deep: { ...target.deep, 'with/slash': 3 } },
    },
    {
      name: 'reads ~0 as a tilde',
      operation: { op: 'remove', path: '/deep/with~0tilde' },
      want: { deep: { 'with/slash': 1 } },
    },
    { name: 'tests deeply', operation: { op: 'test', path: '/list', value: ['x', 'y'] }, want: {} },
  ])('$name', ({ operation, want }) => {
    const before = structuredClone(target);
    expect(jsonPatch(target, [operation])).toEqual({ ...target, ...want });
    expect(target).toEqual(before);
  });

  it('replaces the whole document', () => {
    expect(jsonPatch(target, [{ op: 'replace', path: '', value: [] }])).toEqual([]);
  });

  it.each<{ name: string; operation: Operation }>([
    { name: 'a test that fails', operation: { op: 'test', path: '/a', value: 2 } },
    { name: 'a removal of a missing field', operation: { op: 'remove', path: '/b' } },
    { name: 'a path through a missing field', operation: { op: 'add', path: '/b/c', value: 1 } },
    { name: 'a path through a number', operation: { op: 'add', path: '/a/c', value: 1 } },
    { name: 'an index after the end', operation: { op: 'add', path: '/list/3', value: 1 } },
    { name: 'an index that is not a number', operation: { op: 'remove', path: '/list/x' } },
    { name: 'a path without a slash', operation: { op: 'remove', path: 'a' } },
    { name: 'an unknown operation', operation: { op: 'erase' as 'remove', path: '/a' } },
  ])('refuses $name', ({ operation }) => {
    expect(() =>
      jsonPatch(target, [{ op: 'remove', path: '/a' }, { op: 'add', path: '/a', value: 1 }, operation]),
    ).toThrow(Error);
  });
});
