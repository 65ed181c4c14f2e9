import { expect, it } from 'vitest';
import { setLabels } from '../desired/labels.ts';
import { LocalSets } from './sets.ts';

const identity = { domain: 'semaphore.uw.systems', managedBy: 'semaphore-policy' };

it('finds our sets by key and by cluster, also orphans with their nets, and forgets deleted sets', () => {
  const changed: (readonly string[])[] = [];
  const total = new Map<string, number>();
  const sets = new LocalSets({
    configured: identity,
    onChange: (keys) => changed.push(keys),
    counts: { count: (cluster, step) => void total.set(cluster, (total.get(cluster) ?? 0) + step) },
  });
  const add = (cluster: string, name: string): void => {
    const labels = setLabels(identity, { cluster, namespace: 'ns', app: 'app' });
    const owners = { ownerReferences: undefined, finalizers: undefined };
    const metadata = { name, namespace: '', uid: name, resourceVersion: '1', labels, annotations: {}, ...owners };
    sets.store.set(name, sets.read({ metadata, spec: { nets: ['10.0.0.1/32'] } }));
  };
  for (const cluster of ['c2', 'c3', 'c9']) add(cluster, `${cluster}-ns-app`);
  add('c2', 'c2-copy');
  const counts = () => ['c2', 'c3', 'c9'].map((cluster) => [sets.ownSets(cluster), total.get(cluster)]);

  expect(changed).toEqual([['c2-ns-app'], ['c3-ns-app'], ['c9-ns-app'], ['c2-copy', 'c2-ns-app']]);
  expect(sets.ofCluster('c2').map(({ name }) => name)).toEqual(['c2-ns-app', 'c2-copy']);
  expect(sets.ofKey('c2-ns-app').map(({ cluster, set }) => [cluster, set.name])).toEqual([['c2', 'c2-ns-app']]);
  expect(sets.ofKey('c9-ns-app').map(({ cluster, set }) => [cluster, set.nets])).toEqual([['c9', ['10.0.0.1/32']]]);
  expect(counts()).toEqual([
    [2, 2],
    [1, 1],
    [1, 1],
  ]);

  for (const name of ['c2-ns-app', 'c2-copy', 'c9-ns-app']) sets.store.delete(name);
  expect([...sets.keys()]).toEqual(['c3-ns-app']);
  expect(counts()).toEqual([
    [0, 0],
    [1, 1],
    [0, 0],
  ]);
});
