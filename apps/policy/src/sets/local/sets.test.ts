import { expect, it } from 'vitest';
import { setLabels } from '../desired/labels.ts';
import { LocalSets } from './sets.ts';

const identity = { domain: 'semaphore.uw.systems', managedBy: 'semaphore-policy' };

it('finds our sets by key and by cluster, counts orphans, and forgets deleted sets', () => {
  const changed: (readonly string[])[] = [];
  const orphans: [string, number][] = [];
  const sets = new LocalSets({
    clusters: new Set(['c2', 'c3']),
    configured: identity,
    onChange: (keys) => changed.push(keys),
    onOrphans: (cluster, count) => orphans.push([cluster, count]),
  });
  const add = (cluster: string, name: string): void => {
    const labels = setLabels(identity, { cluster, namespace: 'ns', app: 'app' });
    const owners = { ownerReferences: undefined, finalizers: undefined };
    const metadata = { name, namespace: '', uid: name, resourceVersion: '1', labels, annotations: {}, ...owners };
    sets.store.set(name, sets.read({ metadata, spec: { nets: ['10.0.0.1/32'] } }));
  };
  for (const cluster of ['c2', 'c3', 'c9']) add(cluster, `${cluster}-ns-app`);
  add('c2', 'c2-copy');
  const counts = () => [sets.ownSets('c2'), sets.ownSets('c3'), orphans.at(-1)];

  expect(changed).toEqual([['c2-ns-app'], ['c3-ns-app'], ['c9-ns-app'], ['c2-copy', 'c2-ns-app']]);
  expect(sets.ofCluster('c2').map(({ name }) => name)).toEqual(['c2-ns-app', 'c2-copy']);
  expect(sets.ofKey('c2-ns-app').map(({ cluster, set }) => [cluster, set.name])).toEqual([['c2', 'c2-ns-app']]);
  expect(counts()).toEqual([2, 1, ['c9', 1]]);

  for (const name of ['c2-ns-app', 'c2-copy', 'c9-ns-app']) sets.store.delete(name);
  expect([...sets.keys()]).toEqual(['c3-ns-app']);
  expect(counts()).toEqual([0, 1, ['c9', 0]]);
});
