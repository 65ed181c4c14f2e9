import type { Remote } from '@kube-semaphore/multicluster';
import { expect, it } from 'vitest';
import type { RemoteSettings } from '../config/settings.ts';
import { ObjectCounts } from './object-counts.ts';

it('counts what names each cluster, and shows those that the config lacks', () => {
  const orphans = new Map<string, number>();
  const remotes = { byName: new Map([['c2', {} as Remote<RemoteSettings>]]) };
  const gauge = {
    set: ({ cluster }: { cluster: string }, count: number) => void orphans.set(cluster, count),
    remove: ({ cluster }: { cluster: string }) => void orphans.delete(cluster),
  };
  const counts = new ObjectCounts({ remotes, metrics: { orphans: gauge } });
  for (const cluster of ['c2', 'c2', 'c9', 'c9']) counts.count(cluster, +1);
  counts.count('c9', -1);
  expect([counts.of('c2'), counts.of('c9'), counts.of('c3'), [...orphans]]).toEqual([2, 1, 0, [['c9', 1]]]);
  remotes.byName = new Map([['c9', {} as Remote<RemoteSettings>]]);
  counts.report();
  expect([...orphans]).toEqual([['c2', 2]]);
});
