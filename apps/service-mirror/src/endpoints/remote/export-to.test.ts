import { describe, expect, it } from 'vitest';
import { notExportedTo } from './export-to.ts';

const properties = new Map([
  ['region', 'eu'],
  ['team.example/tier', 'prod'],
]);
const c1 = { name: 'c1', properties };
const of = (list?: string) => ({ annotations: list === undefined ? {} : { 'semaphore.uw.io/export-to': list } });

describe('notExportedTo', () => {
  it.each([
    { list: undefined, isFor: true },
    { list: 'c1', isFor: true },
    { list: ' c2 , c1 ', isFor: true },
    { list: '*', isFor: true },
    { list: 'c2, region=eu', isFor: true },
    { list: 'region = eu', isFor: true },
    { list: 'team.example/tier=prod', isFor: true },
    { list: 'c2', isFor: false },
    { list: 'c11', isFor: false },
    { list: '', isFor: false },
    { list: ',', isFor: false },
    { list: 'region=us', isFor: false },
    { list: 'region', isFor: false },
    { list: 'zone=eu', isFor: false },
    { list: 'constructor=eu', isFor: false },
    { list: 'toString=', isFor: false },
  ])('the list $list includes the local cluster: $isFor', ({ list, isFor }) => {
    expect(notExportedTo(of(list), c1) === undefined).toBe(isFor);
  });

  it('says what the list is, cut, and who we are', () => {
    expect(notExportedTo(of('c2\n'), c1)).toEqual({
      kind: 'expected',
      reason: 'not-exported-to-us',
      detail: 'it is exported to "c2\\n", and this cluster is c1',
    });
    expect(notExportedTo(of('x'.repeat(5_000)), c1)!.detail.length).toBeLessThan(2_000);
  });

  it('takes no list for the own Services of the local cluster', () => {
    expect(notExportedTo(of('c2'), undefined)).toBeUndefined();
  });

  it('includes a cluster without a name only by its properties, or with all', () => {
    const unnamed = { name: undefined, properties: new Map() };
    expect(['local', 'undefined', '', '*'].filter((list) => notExportedTo(of(list), unnamed) === undefined)).toEqual([
      '*',
    ]);
  });
});
