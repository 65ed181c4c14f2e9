import { Codec, type Node, nodeKind } from '@kube-semaphore/kube-objects';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Change, entryBytes, Store } from './store.ts';
import { StoreWriter } from './store-writer.ts';

/** Finishes a list of these keys, and believes it. */
const finish = (store: Store<Thing>, listed: ReadonlySet<string>) =>
  store.finishList(listed, { known: store.size, isHoldOver: true });

type Thing = { uid: string; value: string; resourceVersion?: string };

function storeOf() {
  const changes: string[] = [];
  const describeChange = ({ key, previous, current }: Change<Thing>) =>
    changes.push(`${key}: ${previous?.value ?? 'nothing'} -> ${current?.value ?? 'nothing'}`);
  return { store: new Store<Thing>({ equal: (a, b) => a.value === b.value, onChange: describeChange }), changes };
}

describe('Store', () => {
  it('is unknown, and not empty, before the first list is complete', () => {
    const { store } = storeOf();
    store.set('a', { uid: '1', value: 'x' });
    expect(store.view).toEqual({ synced: false });
    finish(store, new Set(['a']));
    expect(store.view).toEqual({ synced: true, objects: new Map([['a', { uid: '1', value: 'x' }]]) });
  });

  it('reports the deletion of objects that a list no longer names', () => {
    const { store, changes } = storeOf();
    store.set('a', { uid: '1', value: 'x' });
    store.set('b', { uid: '2', value: 'y' });
    finish(store, new Set(['b']));
    expect(changes).toEqual(['a: nothing -> x', 'b: nothing -> y', 'a: x -> nothing']);
  });

  it('stores an update that leaves the value equal, without a report', () => {
    const { store, changes } = storeOf();
    store.update('a', { uid: '1', value: 'x', resourceVersion: '1' });
    store.update('a', { uid: '1', value: 'x', resourceVersion: '2' });
    finish(store, new Set(['a']));
    expect(changes).toEqual(['a: nothing -> x']);
    expect(store.view).toMatchObject({ objects: new Map([['a', { uid: '1', value: 'x', resourceVersion: '2' }]]) });
  });

  it('treats another UID under the same name as a deletion and an addition', () => {
    const { store, changes } = storeOf();
    store.set('a', { uid: '1', value: 'x' });
    store.set('a', { uid: '2', value: 'x' });
    expect(changes).toEqual(['a: nothing -> x', 'a: x -> nothing', 'a: nothing -> x']);
  });

  it('skips an event that is older than the answer to our own write', () => {
    const { store, changes } = storeOf();
    store.update('a', { uid: '1', value: 'old', resourceVersion: '9' });
    store.update('a', { uid: '1', value: 'written', resourceVersion: '11' });
    store.update('a', { uid: '1', value: 'between', resourceVersion: '10' });
    expect(changes).toEqual(['a: nothing -> old', 'a: old -> written']);
  });

  it('keeps what the answer to our own write brought when the watch reports the same version', () => {
    const { store, changes } = storeOf();
    const answer = { uid: '1', value: 'written', resourceVersion: '11' };
    store.update('a', answer);
    store.update('a', { ...answer });
    finish(store, new Set(['a']));
    expect(changes).toEqual(['a: nothing -> written']);
    expect(store.view.synced && store.view.objects.get('a')).toBe(answer);
  });

  it('counts the size that it is given, and the same size when the object goes', () => {
    const { store } = storeOf();
    const thing = { uid: '1', value: 'x' };
    store.set('a', thing, entryBytes('a', thing));
    expect(store.bytes).toBe(entryBytes('a', thing));
    store.delete('a');
    expect(store.bytes).toBe(0);
  });

  it('stores the objects of a list that is older, because etcd may have been restored', () => {
    const { store, changes } = storeOf();
    store.update('a', { uid: '1', value: 'new', resourceVersion: '11' });
    store.set('a', { uid: '1', value: 'restored', resourceVersion: '5' });
    expect(changes.at(-1)).toBe('a: new -> restored');
  });

  it('keeps an object when the deletion of its predecessor arrives late', () => {
    const { store, changes } = storeOf();
    store.set('a', { uid: '2', value: 'successor' });
    store.delete('a', '1');
    store.delete('missing');
    expect(changes).toEqual(['a: nothing -> successor']);
    store.delete('a', '2');
    expect(changes.at(-1)).toBe('a: successor -> nothing');
  });

  it('is what its reported changes, applied in order, add up to', () => {
    const key = fc.constantFrom('a', 'b', 'c');
    const step = fc.oneof(
      fc.record({
        type: fc.constant('set' as const),
        key,
        value: fc.constantFrom('x', 'y'),
        uid: fc.constantFrom('1', '2'),
      }),
      fc.record({ type: fc.constant('delete' as const), key }),
      fc.record({ type: fc.constant('list' as const), keys: fc.uniqueArray(key) }),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const replica = new Map<string, string>();
        const store = new Store<Thing>({
          equal: (a, b) => a.value === b.value,
          onChange: ({ key: changed, previous, current }) => {
            expect(replica.get(changed)).toBe(previous?.value);
            if (current === undefined) replica.delete(changed);
            else replica.set(changed, current.value);
          },
        });
        for (const next of steps) {
          if (next.type === 'set') store.set(next.key, { uid: next.uid, value: next.value });
          else if (next.type === 'delete') store.delete(next.key);
          else finish(store, new Set(next.keys));
        }
        finish(store, new Set(replica.keys()));
        const view = store.view as { objects: ReadonlyMap<string, Thing> };
        expect(new Map([...view.objects].map(([name, { value }]) => [name, value]))).toEqual(replica);
      }),
    );
  });
});

describe('StoreWriter', () => {
  it('shows the projection what is kept of the last version, also of a seed', () => {
    const { store } = storeOf();
    const shown: (Thing | undefined)[] = [];
    const project = ({ metadata: { uid } }: Node, known: Thing | undefined): Thing => {
      shown.push(known);
      return { uid, value: `version ${shown.length}` };
    };
    const writer = new StoreWriter<typeof nodeKind, Thing>({ store, project });
    const codec = new Codec(nodeKind);
    store.seed('n1', { uid: '', value: 'a seed' });
    for (const name of ['n1', 'n1', 'n2'])
      writer.put(codec.objectFromJson({ apiVersion: 'v1', kind: 'Node', metadata: { name, uid: 'u' } }));
    expect(shown).toEqual([{ uid: '', value: 'a seed' }, { uid: 'u', value: 'version 1' }, undefined]);
  });
});
