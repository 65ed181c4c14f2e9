import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foreignMarks } from '../../../../test/arbitraries.ts';
import { exportedMarks, hasMarks, type Marks, marksOf, withExported } from './marks.ts';

const ours: Marks = {
  labels: { 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': 'c2' },
  annotations: { 'mirror-svc-source': 'c2/shop/web' },
};
const nothing: Marks = { labels: {}, annotations: {} };
const joined = (a: Marks, b: Marks): Marks => ({
  labels: { ...a.labels, ...b.labels },
  annotations: { ...a.annotations, ...b.annotations },
});

describe('labels and annotations', () => {
  it('of others stay in one write, and cause none', () => {
    fc.assert(
      fc.property(foreignMarks, (foreign) => {
        expect(hasMarks(joined(ours, foreign), ours)).toBe(true);
        expect(marksOf(foreign, ours)).toEqual(joined(foreign, ours));
        expect(hasMarks(foreign, ours)).toBe(false);
      }),
    );
  });

  it.each([
    { name: 'a label that is not desired', more: { labels: { 'mirrored-endpoint-slice': 'true' }, annotations: {} } },
    { name: 'an annotation that is not desired', more: { labels: {}, annotations: { 'global-svc-clusters': 'c3' } } },
    { name: 'another value', more: { labels: { 'mirrored-svc': 'false' }, annotations: {} } },
  ])('of ours are written anew: $name', ({ more }) => {
    const from = joined(ours, more);
    expect(hasMarks(from, ours)).toBe(false);
    expect(marksOf(from, ours)).toEqual(ours);
  });

  it('from exports go when they are withdrawn, and those of others stay', () => {
    const exported: Marks = { labels: { team: 'a', tier: 'b' }, annotations: { note: 'x' } };
    const before = joined({ labels: { own: '1' }, annotations: { own: '2' } }, withExported(ours, exported));
    expect(exportedMarks(before)).toEqual(exported);
    const to = withExported(ours, { labels: { tier: 'b' }, annotations: {} });
    expect(hasMarks(before, to)).toBe(false);
    const after = marksOf(before, to);
    expect(after.labels).toEqual({ ...ours.labels, own: '1', tier: 'b' });
    expect(after.annotations).toEqual({
      ...ours.annotations,
      own: '2',
      'mirror-svc-exported-labels': 'tier',
    });
    expect(hasMarks(after, to)).toBe(true);
  });

  it('that an older build took from exports stay until they are exported again, as it did not say which they are', () => {
    const older = joined(ours, { labels: { team: 'a' }, annotations: {} });
    expect(exportedMarks(older)).toEqual(nothing);
    expect(hasMarks(older, ours)).toBe(true);
    expect(hasMarks(older, withExported(ours, { labels: { team: 'a' }, annotations: {} }))).toBe(false);
  });
});
