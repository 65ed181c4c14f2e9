import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AddressIndex, compareHolders, type Holder, lifetimeOf } from './address-index.ts';

const holder = fc
  .record({ number: fc.nat(9), created: fc.nat(3), deletionMs: fc.option(fc.nat(3), { nil: undefined }) })
  .map(({ number, created, deletionMs }): Holder => {
    const pod = `ns/pod-${number}`;
    return deletionMs === undefined ? { pod, created } : { pod, created, deletionMs };
  });

const indexOf = (holders: readonly Holder[]): AddressIndex => {
  const index = new AddressIndex();
  for (const each of holders) index.add('10.4.0.1', each);
  return index;
};

describe('AddressIndex', () => {
  it('prefers a Pod that runs to one that is being deleted, and a newer one to an older one', () => {
    const isGoing = ({ deletionMs }: Holder): boolean => deletionMs !== undefined;
    const pods = fc.uniqueArray(holder, { selector: ({ pod }) => pod, minLength: 1 });
    fc.assert(
      fc.property(pods, (holders) => {
        const owner = indexOf(holders).ownerOf('10.4.0.1')!;
        const running = holders.filter((each) => !isGoing(each));
        const best = running.length > 0 ? running : holders;
        expect(best).toContainEqual(owner);
        expect(owner.created).toBe(Math.max(...best.map(({ created }) => created)));
      }),
    );
  });

  it('finds the same owner in every order of events', () => {
    const orders = fc
      .uniqueArray(holder, { selector: ({ pod }) => pod })
      .chain((pods) =>
        fc.tuple(...[pods, pods].map((each) => fc.shuffledSubarray([...each], { minLength: each.length }))),
      );
    fc.assert(
      fc.property(orders, ([one = [], other = []]) => {
        expect(indexOf(one).ownerOf('10.4.0.1')).toEqual(indexOf(other).ownerOf('10.4.0.1'));
        expect(one.toSorted(compareHolders)).toEqual(other.toSorted(compareHolders));
      }),
    );
  });

  it('is, after any changes, as one of what is there', () => {
    const changes = fc.array(fc.record({ isGone: fc.boolean(), isAsked: fc.boolean(), of: holder }));
    fc.assert(
      fc.property(changes, (events) => {
        const index = new AddressIndex();
        const present = new Map<string, Holder>();
        for (const { isGone, isAsked, of } of events) {
          if (isAsked) index.ownerOf('10.4.0.1');
          if (isGone) {
            index.remove('10.4.0.1', of.pod);
            present.delete(of.pod);
          } else {
            index.add('10.4.0.1', of);
            present.set(of.pod, of);
          }
        }
        expect(index.ownerOf('10.4.0.1')).toEqual([...present.values()].toSorted(compareHolders)[0]);
        expect(index.has('10.4.0.1')).toBe(present.size > 0);
      }),
    );
  });

  it('compares Pods once with each other, however often it is asked and whichever one changes', () => {
    let reads = 0;
    const pods = Array.from({ length: 1000 }, (_, i) => ({
      pod: `ns/pod-${i}`,
      get created() {
        reads += 1;
        return i;
      },
    }));
    const index = indexOf(pods);
    for (let i = 0; i < 500; i++) {
      index.remove('10.4.0.1', `ns/pod-${i}`);
      index.add('10.4.0.1', pods[i]!);
      expect(index.ownerOf('10.4.0.1')).toBe(pods[999]);
    }
    expect(reads).toBeLessThan(4000);
  });
});

it('a Pod that is not being deleted has no time of it', () => {
  const creationTimestamp = Date.parse('2026-01-01T00:00:00Z');
  expect(lifetimeOf({ creationTimestamp, deletionTimestamp: 0 })).toEqual({ created: 1_767_225_600 });
  expect(lifetimeOf({ creationTimestamp, deletionTimestamp: 5 })).toEqual({ created: 1_767_225_600, deletionMs: 5 });
});
