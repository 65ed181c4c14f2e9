import { describe, expect, it } from 'vitest';
import { OverBudgetError, RemoteBudget } from './remote-budget.ts';
import { entryBytes, Store } from './store.ts';

type Value = { readonly uid: string; readonly text?: string };

const newStore = () => new Store<Value>({ equal: () => false, onChange: () => {} });

/** A store that takes an object only if its budget admits it. */
function budgeted(budget: RemoteBudget) {
  const store = newStore();
  const share = budget.share(store);
  const put = (key: string, value: Value = { uid: key }): void => {
    share.admit(entryBytes(key, value));
    store.set(key, value);
  };
  return { store, share, put };
}

/** How many of these keys are admitted before the first that isn't. */
function admitted(put: (key: string) => void, keys: readonly string[]): number {
  const refused = keys.findIndex((key) => {
    try {
      put(key);
      return false;
    } catch (error) {
      if (error instanceof OverBudgetError) return true;
      throw error;
    }
  });
  return refused === -1 ? keys.length : refused;
}

const keys = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

describe('the budget of a remote', () => {
  it('is shared by all of its stores', () => {
    const budget = new RemoteBudget({ objects: 10, bytes: Infinity });
    const [services, slices] = [budgeted(budget), budgeted(budget)];
    expect(admitted(services.put, keys('a', 6))).toBe(6);
    expect(admitted(slices.put, keys('b', 6))).toBe(4);
    expect(() => services.put('a-7')).toThrow(expect.objectContaining({ code: 'KUBE_OVER_BUDGET', budget: 'objects' }));
  });

  it('has room again after a deletion', () => {
    const { store, put } = budgeted(new RemoteBudget({ objects: 3, bytes: Infinity }));
    expect(admitted(put, keys('a', 4))).toBe(3);
    store.delete('a-0');
    expect(admitted(put, ['b', 'c'])).toBe(1);
  });

  it('counts bytes', () => {
    const { store, put } = budgeted(new RemoteBudget({ objects: Infinity, bytes: 100_000 }));
    const big = (key: string) => put(key, { uid: key, text: 'x'.repeat(10_000) });
    expect(admitted(big, keys('a', 20))).toBe(10);
    expect(store.bytes).toBeGreaterThan(100_000);
    expect(() => big('a')).toThrow(expect.objectContaining({ budget: 'bytes' }));
  });

  it('lets a list replace everything in the store, as the source may have shrunk', () => {
    const { store, share, put } = budgeted(new RemoteBudget({ objects: 10, bytes: Infinity }));
    expect(admitted(put, keys('old', 11))).toBe(10);
    share.beginList();
    const listed = keys('new', 9);
    expect(admitted(put, listed)).toBe(9);
    store.finishList(new Set(listed), { known: 10, isHoldOver: true });
    share.endList();
    expect(admitted(put, ['x', 'y'])).toBe(1);
  });

  it('limits failed lists to twice the budget', () => {
    const { store, share, put } = budgeted(new RemoteBudget({ objects: 10, bytes: Infinity }));
    for (const prefix of ['a', 'b', 'c', 'd']) {
      share.beginList();
      admitted(put, keys(prefix, 11));
      share.endList();
    }
    expect(store.size).toBe(20);
  });
});

describe('a store', () => {
  it('takes as many bytes as its objects, however they were added', () => {
    const store = newStore();
    store.set('a', { uid: '1', text: 'short' });
    const { bytes } = store;
    store.set('a', { uid: '1', text: 'x'.repeat(1_000) });
    expect(store.bytes).toBe(bytes + 995);
    store.set('a', { uid: '2', text: 'short' });
    expect(store.bytes).toBe(bytes);
    store.seed('b', { uid: '' });
    store.finishList(new Set(['a']), { known: 2, isHoldOver: true });
    expect(store.bytes).toBe(bytes);
    store.delete('a');
    expect(store.bytes).toBe(0);
  });
});
