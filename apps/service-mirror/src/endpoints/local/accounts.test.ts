import { describe, expect, it } from 'vitest';
import { sliceOf } from '../../../test/mcs/inputs.ts';
import { importKey, sourceAnnotation } from '../../names.ts';
import { Accounts, sourceOf } from './accounts.ts';

const key = importKey('shop', 'web');

/** Accounts of an import that these remotes share. `spent`: who paid, in turn. */
function start(remotes: readonly string[]) {
  let sharers = remotes;
  const accounts = new Accounts({ remotes: new Set(['c1', 'c2']), sharersOf: () => sharers });
  const pay = async (
    cause: Partial<Parameters<Accounts['charge']>[0]> = {},
    isWritten = true,
  ): Promise<string | undefined> => {
    let paidBy: string | undefined;
    const write = async (account: string | undefined): Promise<void> => {
      paidBy = account;
      if (!isWritten) throw new Error('refused');
    };
    await accounts.charge({ key, cluster: undefined, source: undefined, ...cause }, write).catch(() => {});
    return paidBy;
  };
  /** A reconcile with these writes. @returns who paid for each */
  const reconcile = async (count: number, { unwritten = 0 } = {}): Promise<readonly (string | undefined)[]> => {
    const paid: (string | undefined)[] = [];
    await accounts.during(key, { unwritten: Array.from({ length: unwritten }) as never }, async () => {
      for (let i = 0; i < count; i++) paid.push(await pay());
    });
    return paid;
  };
  return { pay, reconcile, become: (next: readonly string[]) => void (sharers = next) };
}

describe('a slice of a remote', () => {
  const [first, second] = [sliceOf('web-a'), sliceOf('web-a')];

  it('is paid by it once for each version, and what others change in it by all', async () => {
    const { pay } = start(['c1', 'c2']);
    const paid = [];
    for (const source of [first, first, second, second, undefined]) paid.push(await pay({ cluster: 'c2', source }));
    expect(paid).toEqual(['c2', 'global', 'c2', 'global', 'c2']);
  });

  it('is paid by it until it is written', async () => {
    const { pay } = start(['c1', 'c2']);
    expect(await pay({ cluster: 'c2', source: first }, false)).toBe('c2');
    expect(await pay({ cluster: 'c2', source: first })).toBe('c2');
    expect(await pay({ cluster: 'c2', source: first }, false)).toBe('global');
    expect(await pay({ cluster: 'c2', source: first })).toBe('global');
  });

  it('is paid by it if no other has a part', async () => {
    const { pay } = start(['c2']);
    expect([await pay({ cluster: 'c2', source: first }), await pay({ cluster: 'c2', source: first })]).toEqual([
      'c2',
      'c2',
    ]);
  });
});

it('lets the remote of an import pay for what it changes in slices of the local cluster', async () => {
  const { pay } = start(['c1']);
  const source = sliceOf('web-a');
  expect([await pay({ cluster: 'c3', source }), await pay({ cluster: 'c3', source })]).toEqual([undefined, 'c1']);
});

describe('what remotes share', () => {
  it('is paid by all until it is written without one that leaves', async () => {
    const { reconcile, become } = start(['c1', 'c2']);
    expect(await reconcile(1)).toEqual(['global']);
    become(['c2']);
    expect(await reconcile(2, { unwritten: 1 })).toEqual(['global', 'global']);
    expect(await reconcile(1)).toEqual(['global']);
    expect(await reconcile(1)).toEqual(['c2']);
  });

  it('is paid by all when they leave together', async () => {
    const { reconcile, become } = start(['c1', 'c2']);
    await reconcile(1);
    become([]);
    expect(await reconcile(1)).toEqual(['global']);
    expect(await reconcile(1)).toEqual([undefined]);
  });
});

describe('sourceOf', () => {
  const slice = sliceOf('web-a');
  const parts = [{ cluster: 'c2', slices: [slice] }];
  const of = (source: string) => ({ annotations: { [sourceAnnotation]: source } });

  it.each([
    { name: 'what a slice is written from', change: { to: of('c2/shop/web-a') }, want: slice },
    { name: 'what a slice to delete was written from', change: { from: of('c2/shop/web-a') }, want: slice },
    { name: 'nothing of another cluster', change: { to: of('c1/shop/web-a') }, want: undefined },
    { name: 'nothing that its cluster lacks', change: { from: of('c2/shop/web-b') }, want: undefined },
    { name: 'nothing of an object without a source', change: { to: {} }, want: undefined },
  ])('finds $name', ({ change, want }) => {
    expect(sourceOf(change, parts)).toBe(want);
  });
});
