import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergePatch } from './merge-patch.ts';

describe('mergePatch', () => {
  // The examples of RFC 7386, appendix A.
  it.each([
    { target: { a: 'b' }, patch: { a: 'c' }, want: { a: 'c' } },
    { target: { a: 'b' }, patch: { b: 'c' }, want: { a: 'b', b: 'c' } },
    { target: { a: 'b' }, patch: { a: null }, want: {} },
    { target: { a: 'b', b: 'c' }, patch: { a: null }, want: { b: 'c' } },
    { target: { a: ['b'] }, patch: { a: 'c' }, want: { a: 'c' } },
    { target: { a: 'c' }, patch: { a: ['b'] }, want: { a: ['b'] } },
    { target: { a: { b: 'c' } }, patch: { a: { b: 'd', c: null } }, want: { a: { b: 'd' } } },
    { target: { a: [{ b: 'c' }] }, patch: { a: [1] }, want: { a: [1] } },
    { target: ['a', 'b'], patch: ['c', 'd'], want: ['c', 'd'] },
    { target: { a: 'b' }, patch: ['c'], want: ['c'] },
    { target: { a: 'foo' }, patch: null, want: null },
    { target: { e: null }, patch: { a: 1 }, want: { e: null, a: 1 } },
    { target: [1, 2], patch: { a: 'b', c: null }, want: { a: 'b' } },
    { target: {}, patch: { a: { bb: { ccc: null } } }, want: { a: { bb: {} } } },
  ])('$target and $patch make $want', ({ target, patch, want }) => {
    const before = structuredClone(target);
    expect(mergePatch(target, patch)).toEqual(want);
    expect(target).toEqual(before);
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
        const once = mergePatch(target, patch);
        expect(mergePatch(once, patch)).toEqual(once);
      }),
    );
  });
});
