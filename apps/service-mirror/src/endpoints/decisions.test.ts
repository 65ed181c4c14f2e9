import { describe, expect, it } from 'vitest';
import { sliceOf } from '../../test/mcs/inputs.ts';
import { Decisions } from './decisions.ts';
import type { Part } from './desired/merged/decision.ts';
import type { DesiredSlice } from './desired/objects.ts';

const key = 'global/shop/web';
const at = (address: string, ready = true) =>
  sliceOf('web-a').endpoints.map((each) => ({ ...each, address, conditions: { ...each.conditions, ready } }));
const partOf = (cluster: string, more: object = {}): Part & { readonly age?: number } => ({
  cluster,
  isLocal: false,
  stale: 'no',
  slices: [sliceOf('web-a')],
  ...more,
});
const moved = { slices: [sliceOf('web-a', { endpoints: at('10.4.0.2') })] };

/** A queue with a decision about three clusters, the clusters that it asked for, and what it makes of what they say. */
function decided(now: (cluster: string) => Part | undefined) {
  const queued: string[] = [];
  const asked: string[] = [];
  const enqueue = (keys: Iterable<string>): void => void queued.push(...keys);
  const decisions = new Decisions<Part>({ enqueue, enqueueAll: (keys) => enqueue(keys()) });
  const slicesOf = ({ cluster, slices }: Part): DesiredSlice[] =>
    slices.map(({ family, ports, endpoints }) => ({
      name: cluster,
      labels: {},
      annotations: {},
      family,
      ports,
      endpoints,
    }));
  decisions.keep(key, { parts: ['c1', 'c2', 'c3'].map((cluster) => partOf(cluster)), slicesOf });
  const changed = () =>
    decisions.changedSlices(key, (cluster) => {
      asked.push(cluster);
      return now(cluster);
    })?.slices;
  return { decisions, queued, asked, changed };
}

describe('a decision', () => {
  it('asks only the clusters whose endpoints changed, once', () => {
    const { decisions, queued, asked, changed } = decided((cluster) => partOf(cluster, moved));
    decisions.enqueueSlices([key], 'c2', 1);
    decisions.enqueueSlices([key], 'c2', 2);
    expect(queued).toEqual([key, key]);
    expect(changed()?.map(({ name, endpoints }) => [name, endpoints[0]?.address])).toEqual([['c2', '10.4.0.2']]);
    expect(changed()).toEqual([]);
    decisions.enqueueSlices([key], 'c3', 3);
    expect(changed()).toHaveLength(1);
    expect(asked).toEqual(['c2', 'c3']);
  });

  it.each<{ what: string; now: Part | undefined }>([
    { what: 'has another field', now: partOf('c2', { ...moved, age: 1 }) },
    { what: 'is stale', now: partOf('c2', { ...moved, stale: 'unready' }) },
    { what: 'has one more slice', now: partOf('c2', { slices: [...moved.slices, sliceOf('web-b')] }) },
    { what: 'has another slice', now: partOf('c2', { slices: [sliceOf('web-b')] }) },
    { what: 'has a slice with other ports', now: partOf('c2', { slices: [sliceOf('web-a', { ports: [] })] }) },
    { what: 'has a slice of another family', now: partOf('c2', { slices: [sliceOf('web-a', { family: 'IPv6' })] }) },
    {
      what: 'has a slice that is not ready any more',
      now: partOf('c2', { slices: [sliceOf('web-a', { endpoints: at('10.4.0.1', false) })] }),
    },
    { what: 'is gone', now: undefined },
  ])('ends if a cluster $what', ({ now }) => {
    const { decisions, changed } = decided(() => now);
    decisions.enqueueSlices([key], 'c2', 1);
    expect(changed()).toBeUndefined();
    expect(changed()).toBeUndefined();
  });

  it('ends with any other event of its key, and if it is forgotten', () => {
    const one = decided(() => partOf('c2'));
    one.decisions.enqueueSlices([key], 'c2', 1);
    one.decisions.enqueue([key]);
    expect([one.queued, one.changed()]).toEqual([[key, key], undefined]);
    const other = decided(() => partOf('c2'));
    other.decisions.forget(key);
    expect(other.changed()).toBeUndefined();
  });
});
