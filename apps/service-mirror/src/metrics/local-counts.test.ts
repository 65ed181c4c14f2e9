import { createMetrics } from '@kube-semaphore/runtime';
import { expect, it } from 'vitest';
import { LocalCounts } from './local-counts.ts';
import { metrics as table } from './metrics.ts';

async function run(steps: (counts: LocalCounts) => void) {
  const { metrics, registry } = createMetrics(table, { remote: [] });
  steps(new LocalCounts({ metrics, prefixes: new Map([['c2', 'p2']]), local: 'c1', hasGlobals: true }));
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
