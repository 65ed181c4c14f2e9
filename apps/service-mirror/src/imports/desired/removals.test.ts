import { expect, it } from 'vitest';
import { exported } from '../../../test/mcs/arbitraries.ts';
import { importInput, sliceOf } from '../../../test/mcs/inputs.ts';
import { observedAs } from '../../../test/mcs/observed.ts';
import { desiredImport } from './import.ts';
import { sliceAfter } from './planned.ts';
import { importRemovals } from './removals.ts';

const { wanted } = desiredImport(
  importInput(['c1', 'c2'].map((cluster) => ({ ...exported(cluster), slices: [sliceOf('web-1')] }))),
);
if (typeof wanted === 'string') throw new Error(wanted);
const namespace = 'shop';
const ours = {
  imports: [{ ...observedAs(wanted), namespace }],
  services: [],
  slices: wanted.slices.map((slice) => ({ ...sliceAfter(slice), namespace })),
};

it('takes a cluster out of the status while others have a part in the import, and deletes its slices', () => {
  const removals = importRemovals(ours, 'c2').map(({ change }) => change);
  expect(removals).toMatchObject([
    { kind: 'update-import-status', to: { clusters: ['c1'], sliceObjects: 'Present' } },
    { kind: 'delete-slice', from: { labels: { 'multicluster.kubernetes.io/source-cluster': 'c2' } } },
  ]);
});

it('removes nothing for a cluster without a part, and everything without a cluster', () => {
  expect(importRemovals(ours, 'c9')).toEqual([]);
  const all = importRemovals(ours, undefined).map(({ change }) => change.kind);
  expect(all).toEqual(['delete-import', 'delete-slice', 'delete-slice']);
});
