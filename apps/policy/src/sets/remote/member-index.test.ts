import { setKey } from '../../names.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemberIndex } from './member-index.ts';
import type { Member } from '../desired/member.ts';

const member = (namespace: string, name: string, app: string, ip = '10.0.0.1'): Member => ({
  uid: `${namespace}/${name}`,
  namespace,
  name,
  app,
  ips: [ip],
  hostNetwork: false,
});

const unlimited = { limit: 1_000, hasSet: () => false, skipped: { replace: () => undefined } };

describe('MemberIndex', () => {
  it('skips a pair over the limit until another one goes', () => {
    const skipped = new Set<string>();
    const index = new MemberIndex('c2', {
      limit: 1,
      hasSet: (key) => key === 'c2-ns-here',
      skipped: {
        replace: (subject, diagnostics) =>
          void (diagnostics.length > 0 ? skipped.add(subject) : skipped.delete(subject)),
      },
    });
    const [here, one, two] = ['here', 'one', 'two'].map((app) => member('ns', app, app));
    for (const each of [here, one, two]) index.apply(undefined, each);
    expect([index.pairs('c2-ns-here').length, index.pairs('c2-ns-one').length, [...skipped]]).toEqual([
      1,
      0,
      ['set of ns/one', 'set of ns/two'],
    ]);
    expect(index.apply(here, undefined)).toEqual(['c2-ns-here', 'c2-ns-one']);
    expect([index.pairs('c2-ns-one').length, index.isOver, [...skipped]]).toEqual([1, true, ['set of ns/two']]);
    index.apply(two, undefined);
    expect([index.isOver, skipped.size]).toEqual([false, 0]);
  });

  it('finds all pairs with one name under one key', () => {
    const index = new MemberIndex('c2', unlimited);
    const one = member('a-b', 'p', 'c');
    const two = member('a', 'p', 'b-c');
    expect([...index.apply(undefined, one), ...index.apply(undefined, two)]).toEqual(['c2-a-b-c', 'c2-a-b-c']);
    expect(index.pairs('c2-a-b-c')).toEqual([
      { cluster: 'c2', namespace: 'a-b', app: 'c', members: [one] },
      { cluster: 'c2', namespace: 'a', app: 'b-c', members: [two] },
    ]);
  });

  it('moves a Pod whose label changed, and returns both keys (Go left the address)', () => {
    const index = new MemberIndex('c2', unlimited);
    const before = member('ns', 'p', 'old');
    const after = member('ns', 'p', 'new');
    index.apply(undefined, before);
    expect(index.apply(before, after)).toEqual(['c2-ns-new', 'c2-ns-old']);
    expect(index.keys()).toEqual(['c2-ns-new']);
  });

  it('returns one key if a label changes between two spellings of one name', () => {
    const index = new MemberIndex('c2', unlimited);
    const before = member('ns', 'p', 'My_App');
    const after = member('ns', 'p', 'my-app');
    index.apply(undefined, before);
    expect(index.apply(before, after)).toEqual(['c2-ns-my-app']);
    expect(index.pairs('c2-ns-my-app')).toEqual([{ cluster: 'c2', namespace: 'ns', app: 'my-app', members: [after] }]);
  });

  it('replaces a Pod with another address', () => {
    const index = new MemberIndex('c2', unlimited);
    const before = member('ns', 'p', 'app');
    const after = member('ns', 'p', 'app', '10.0.0.2');
    index.apply(undefined, before);
    expect(index.apply(before, after)).toEqual(['c2-ns-app']);
    expect(index.pairs('c2-ns-app')).toEqual([{ cluster: 'c2', namespace: 'ns', app: 'app', members: [after] }]);
  });

  it('forgets a key with its last Pod', () => {
    const index = new MemberIndex('c2', unlimited);
    const only = member('ns', 'p', 'app');
    index.apply(undefined, only);
    expect(index.apply(only, undefined)).toEqual(['c2-ns-app']);
    expect(index.pairs('c2-ns-app')).toEqual([]);
    expect(index.keys()).toEqual([]);
  });

  it('ignores the removal of an unknown Pod', () => {
    expect(new MemberIndex('c2', unlimited).apply(member('ns', 'p', 'app'), undefined)).toEqual([]);
  });

  it('has the members of the store after any changes, and returns the key of each', () => {
    const step = fc.record({
      namespace: fc.constantFrom('a', 'a-b'),
      name: fc.constantFrom('p', 'q'),
      app: fc.option(fc.constantFrom('c', 'b-c', 'B_C')),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const index = new MemberIndex('c2', unlimited);
        const store = new Map<string, Member>();
        for (const { namespace, name, app } of steps) {
          const previous = store.get(`${namespace}/${name}`);
          const current = app === null ? undefined : member(namespace, name, app);
          const touched = [previous, current].filter((one) => one !== undefined);
          const keys = touched.map((one) => setKey('c2', one.namespace, one.app));
          expect(index.apply(previous, current)).toEqual([...new Set(keys)].toSorted());
          store.delete(`${namespace}/${name}`);
          if (current !== undefined) store.set(current.uid, current);
        }
        const held = index.keys().flatMap((key) => index.pairs(key).flatMap(({ members }) => members));
        const byUid = (a: Member, b: Member) => (a.uid < b.uid ? -1 : 1);
        expect(held.toSorted(byUid)).toEqual([...store.values()].toSorted(byUid));
        const pairs = index.keys().flatMap((key) => index.pairs(key).map((pair) => ({ key, ...pair })));
        for (const { key, namespace, app } of pairs) expect(key).toBe(setKey('c2', namespace, app));
      }),
    );
  });
});
