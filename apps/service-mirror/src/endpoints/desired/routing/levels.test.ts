import { describe, expect, it } from 'vitest';
import { levelsOf, unknownProperties } from './levels.ts';
import { type ClusterOrder, parseClusterOrder } from './order.ts';

const known = {
  local: 'c1',
  properties: new Map([
    [
      'c1',
      new Map([
        ['region', 'eu'],
        ['tier', 'gold'],
      ]),
    ],
    ['c2', new Map([['region', 'eu']])],
    ['c3', new Map([['region', 'us']])],
    ['c4', new Map<string, string>()],
  ]),
};

function orderOf(text: string): ClusterOrder {
  const order = parseClusterOrder(text);
  if (!order.ok) throw new Error(order.reason);
  return order.value;
}

describe('levelsOf', () => {
  it.each([
    { order: '*', want: { c1: 0, c2: 0, c3: 0, c4: 0 } },
    { order: 'local; region=same; *', want: { c1: 0, c2: 1, c3: 2, c4: 2 } },
    { order: 'region=same; *', want: { c1: 0, c2: 0, c3: 1, c4: 1 } },
    { order: 'c3; region=eu', want: { c3: 0, c1: 1, c2: 1 } },
    // Others are those that no level names, also not a later one.
    { order: '*; c3; local', want: { c1: 2, c2: 0, c3: 1, c4: 0 } },
    { order: 'c2; c2, c3', want: { c2: 0, c3: 1 } },
    { order: 'planet=same, c4; planet=mars', want: { c4: 0 } },
    { order: 'tier=same', want: { c1: 0 } },
    // Not what every object has.
    { order: 'constructor=same; toString=same', want: {} },
  ])('gives each cluster its level in $order', ({ order, want }) => {
    expect(Object.fromEntries(levelsOf(orderOf(order), ['c1', 'c2', 'c3', 'c4'], known))).toEqual(want);
  });
});

describe('levelsOf a cluster that has not said its properties yet', () => {
  it.each([
    { order: 'region=same; tier=gold; local', want: { c1: 0, c4: 1 } },
    { order: 'region=us; *', want: { c1: 1, c4: 1 } },
    { order: 'c4; region=eu', want: { c1: 1, c4: 0 } },
    { order: 'local', want: { c1: 0 } },
  ])('is $want in $order', ({ order, want }) => {
    const unread = new Set(['c4']);
    expect(Object.fromEntries(levelsOf(orderOf(order), ['c1', 'c4'], { ...known, unread }))).toEqual(want);
  });
});

describe('unknownProperties', () => {
  it.each([
    { order: 'local; region=same; region=mars; *', want: [] },
    { order: 'tier=silver', want: [] },
    { order: 'planet=same; regoin=eu; planet=same, regoin=us', want: ['planet', 'regoin'] },
  ])('finds $want in $order', ({ order, want }) => {
    expect(unknownProperties(orderOf(order), known)).toEqual(want);
  });

  it('needs the local value for `same`', () => {
    expect(unknownProperties(orderOf('tier=same; tier=gold'), { ...known, local: 'c2' })).toEqual(['tier']);
    expect(unknownProperties(orderOf('tier=gold'), { ...known, local: 'c2' })).toEqual([]);
  });
});
