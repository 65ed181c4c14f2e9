import { createMetrics } from '@kube-semaphore/runtime';
import { describe, expect, it } from 'vitest';
import type { PrefixList } from '../config/settings.ts';
import { LocalCounts } from './local-counts.ts';
import { metrics as table } from './metrics.ts';

const remote = (name: string, prefix: string) => ({ settings: { name, prefix } });
const c2 = remote('c2', 'p2');

/** @param steps the config has c2 before `replace` */
async function run(steps: (counts: LocalCounts, replace: (...all: PrefixList['all']) => void) => void) {
  const { metrics, registry } = createMetrics(table, { remote: [] });
  const remotes = { all: [c2] };
  const replace = (...all: PrefixList['all']): void => void (remotes.all = [...all]);
  steps(new LocalCounts({ metrics, remotes, local: 'c1', hasGlobals: true }), replace);
  const text = await registry.metrics();
  return (name: string, ...labels: readonly string[]) => {
    const line = text
      .split('\n')
      .find(
        (each) =>
          each.startsWith(`semaphore_service_mirror_${name}{`) && labels.every((label) => each.includes(`"${label}"`)),
      );
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  };
}

const mirror = (prefix: string) => ({ labels: { 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': prefix } });
const slice = (cluster: string) => ({
  labels: { 'mirrored-endpoint-slice': 'true', 'mirror-endpointslice-sync-name': cluster },
});

it('counts the objects of a configured cluster, as the Go program did', async () => {
  const value = await run((counts) => {
    counts.changed('services', { previous: undefined, current: mirror('p2') });
    counts.changed('services', { previous: mirror('p2'), current: mirror('p2') });
    counts.changed('slices', { previous: undefined, current: slice('c1') });
    counts.changed('slices', { previous: undefined, current: mirror('p2') });
    counts.changed('slices', { previous: mirror('p2'), current: undefined });
  });
  expect(value('kube_watcher_objects', 'c2-mirrorServiceWatcher', 'mirror-c2')).toBe(1);
  expect(value('kube_watcher_events_total', 'c2-mirrorServiceWatcher', 'MODIFIED')).toBe(1);
  expect(value('kube_watcher_objects', 'c1-mirrorEndpointSliceWatcher', 'global-c1')).toBe(1);
  expect(value('kube_watcher_objects', 'c2-mirrorEndpointsWatcher')).toBe(0);
  expect(value('orphans', 'p2')).toBeUndefined();
});

it('counts the orphans of clusters that are not configured', async () => {
  const value = await run((counts) => {
    counts.changed('services', { previous: undefined, current: mirror('p9') });
    counts.changed('slices', { previous: undefined, current: slice('c9') });
    counts.changed('slices', { previous: undefined, current: slice('c9') });
    counts.changed('slices', { previous: slice('c9'), current: undefined });
    counts.changed('services', { previous: undefined, current: { labels: {} } });
  });
  expect(value('orphans', 'p9')).toBe(1);
  expect(value('orphans', 'c9')).toBe(1);
});

describe('when the config has other remotes', () => {
  const objects = { services: [mirror('p2'), mirror('p3')], slices: [mirror('p2'), slice('c2')], endpoints: [] };
  const parts = [['c2', 'c1'], ['c2'], ['c3']];
  const countAll = (counts: LocalCounts): void => {
    for (const kind of ['services', 'slices'] as const)
      for (const current of objects[kind]) counts.changed(kind, { previous: undefined, current });
    for (const each of parts) counts.importChanged([], each);
  };

  it('counts the objects of one that left as those of an orphan', async () => {
    const value = await run((counts, replace) => {
      countAll(counts);
      replace(remote('c9', 'p9'));
      counts.recount(objects, parts);
      counts.changed('slices', { previous: slice('c2'), current: undefined });
    });
    expect([value('orphans', 'p2'), value('orphans', 'c2'), value('orphans', 'p3')]).toEqual([2, 2, 1]);
  });

  it('counts orphans as objects of one that comes', async () => {
    const value = await run((counts, replace) => {
      countAll(counts);
      replace(c2, remote('c3', 'p3'));
      counts.recount(objects, parts);
    });
    expect([value('orphans', 'p3'), value('orphans', 'c3')]).toEqual([0, 0]);
    expect(value('kube_watcher_objects', 'c3-mirrorServiceWatcher')).toBe(1);
    expect(value('kube_watcher_events_total', 'c2-mirrorServiceWatcher', 'ADDED')).toBe(1);
  });

  it('counts those of one with another prefix as an orphan of the old prefix', async () => {
    const value = await run((counts, replace) => {
      countAll(counts);
      replace(remote('c2', 'p9'));
      counts.recount(objects, parts);
    });
    expect([value('orphans', 'p2'), value('orphans', 'c2')]).toEqual([2, undefined]);
    expect(value('kube_watcher_objects', 'global-c2')).toBe(1);
  });
});
