import { describe, expect, it } from 'vitest';
import { exported } from '../../../test/mcs/arbitraries.ts';
import { observedAs } from '../../../test/mcs/observed.ts';
import { desiredImport } from './import.ts';
import { sliceAfter } from './planned.ts';
import { orphanParts, retainedExports } from './retained.ts';
import { importInput, sliceOf } from '../../../test/mcs/inputs.ts';

const target = desiredImport(
  importInput([
    { ...exported('c1', { labels: { team: 'a' } }), slices: [sliceOf('web-1')] },
    { ...exported('c2', { createdAt: 5, definition: { families: ['IPv6'] } }), slices: [sliceOf('web-1')] },
  ]),
);
if (typeof target.wanted === 'string') throw new Error(target.wanted);
const observed = observedAs(target.wanted);
const slices = target.wanted.slices.map(sliceAfter);

describe('retainedExports', () => {
  it('is nothing of known clusters', () => {
    expect(retainedExports({ observed, slices }, [])).toEqual({ clusters: [], slices: [], existing: undefined });
  });

  it('is nothing of an unknown cluster without a part in the import', () => {
    expect(retainedExports({ observed, slices }, ['c9']).clusters).toEqual([]);
  });

  it('is the slices of an unknown cluster, and the import as it is', () => {
    const retained = retainedExports({ observed, slices }, ['c2', 'c9']);
    expect(retained.clusters).toEqual(['c2']);
    expect(retained.slices.map(({ labels }) => labels['multicluster.kubernetes.io/source-cluster'])).toEqual(['c2']);
    expect(retained.existing?.definition).toMatchObject({ headless: false, families: ['IPv4', 'IPv6'] });
  });

  it('finds a cluster by the status if it has no slices, and by its slices if the import is gone', () => {
    expect(retainedExports({ observed, slices: [] }, ['c2'])).toMatchObject({ clusters: ['c2'], slices: [] });
    expect(retainedExports({ observed: undefined, slices }, ['c2'])).toMatchObject({
      clusters: ['c2'],
      existing: undefined,
    });
  });
});

describe('an import that is retained', () => {
  it('takes no label of others for an exported one', () => {
    const labelled = { ...observed, labels: { ...observed.labels, own: 'b' } };
    expect(retainedExports({ observed: labelled, slices }, ['c2']).existing?.labels).toEqual({ team: 'a' });
  });
});

describe('orphanParts', () => {
  it('is the slices of clusters that are not in the config, and those that the status names', () => {
    const orphans = orphanParts({ observed, slices }, new Set(['c1']));
    expect(orphans.clusters).toEqual(['c2']);
    expect(orphans.slices.map(({ labels }) => labels['multicluster.kubernetes.io/source-cluster'])).toEqual(['c2']);
    expect(orphanParts({ observed, slices: [] }, new Set(['c1'])).clusters).toEqual(['c2']);
    expect(orphanParts({ observed, slices }, new Set(['c1', 'c2'])).clusters).toEqual([]);
  });

  it('stays beside known exports, which alone decide, and keeps the import without them', () => {
    const orphans = orphanParts({ observed, slices }, new Set(['c1']));
    const { wanted } = desiredImport({ ...importInput([exported('c1')]), orphans });
    if (typeof wanted === 'string') throw new Error(wanted);
    expect(wanted.slices).toEqual(orphans.slices);
    expect(wanted.status.clusters).toEqual(['c1']);
    expect(desiredImport({ ...importInput([]), orphans }).wanted).toBe('unknown');
  });

  it('goes with the type of the import that it was a part of', () => {
    const orphans = orphanParts({ observed, slices }, new Set(['c1']));
    const headless = importInput([exported('c1', { definition: { headless: true } })]);
    expect(desiredImport({ ...headless, orphans }).wanted).toMatchObject({ slices: [] });
  });
});

describe('a restart while a cluster is unknown', () => {
  it.each([['c1'], ['c2'], ['c1', 'c2']])('changes nothing: %s', (...unknown) => {
    const retained = retainedExports({ observed, slices }, unknown);
    const known = ['c1', 'c2'].filter((cluster) => !unknown.includes(cluster));
    const exporters = known.map((cluster) => ({
      ...exported(
        cluster,
        cluster === 'c1' ? { labels: { team: 'a' } } : { createdAt: 5, definition: { families: ['IPv6'] } },
      ),
      slices: [sliceOf('web-1')],
    }));
    expect(desiredImport({ ...importInput(exporters), retained }).wanted).toEqual(target.wanted);
  });
});
