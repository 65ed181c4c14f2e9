import { expect, it } from 'vitest';
import { readWish, wishAnnotations } from './wish.ts';

const [order, minReady] = ['semaphore.uw.io/cluster-order', 'semaphore.uw.io/min-ready'] as const;

it.each([
  { name: 'nothing', annotations: { other: 'x' }, want: undefined },
  {
    name: 'an order',
    annotations: { [order]: 'local; region=same, c2; *' },
    want: { [order]: 'local; region=same, c2; *' },
  },
  {
    name: 'both',
    annotations: { [order]: ' c2;* ', [minReady]: '50%' },
    want: { [order]: 'c2; *', [minReady]: '50%' },
  },
])('reads $name from the annotations of a Service', ({ annotations, want }) => {
  const { wish, skipped } = readWish(annotations);
  expect({ annotations: wish && wishAnnotations(wish), skipped }).toEqual({ annotations: want, skipped: [] });
});

it('skips an annotation that is not valid, by its name, and uses the other one', () => {
  const { wish, skipped } = readWish({ [order]: 'c 2', [minReady]: '2' });
  expect(wish).toEqual({ order: undefined, minReady: { count: 2 } });
  expect(skipped).toEqual([
    {
      kind: 'problem',
      reason: 'bad-annotation',
      detail: `its annotation ${order}: "c 2" is not local, *, the name of a cluster, or property=value`,
    },
  ]);
  expect(readWish({ [order]: '', [minReady]: '0' }).skipped.map(({ detail }) => detail.slice(0, 60))).toEqual([
    expect.stringContaining(`its annotation ${order}: `),
    expect.stringContaining(`its annotation ${minReady}: `),
  ]);
});
