import { createMetrics } from '@kube-semaphore/runtime';
import { expect, it } from 'vitest';
import { metrics } from './metrics.ts';

const PREFIX = 'semaphore_service_mirror';

it('keeps the names, types and labels of the Go program', () => {
  const kept = Object.values(metrics)
    .filter(({ name }) => /_(kube|queue)_/.test(name))
    .map(
      ({ name, type, labels }) => `${name.slice(PREFIX.length + 1)} ${type} ${Object.keys(labels).toSorted().join()}`,
    );
  expect(kept).toEqual([
    'kube_http_request_total counter code,host,method',
    'kube_http_request_duration_seconds histogram host,method',
    'kube_watcher_objects gauge kind,runner,watcher',
    'kube_watcher_events_total gauge event_type,kind,runner,watcher',
    'queue_depth gauge name',
    'queue_adds_total counter name',
    'queue_latency_duration_seconds histogram name',
    'queue_work_duration_seconds histogram name',
    'queue_unfinished_work_seconds gauge name',
    'queue_longest_running_processor_seconds gauge name',
    'queue_retries_total counter name',
    'queue_requeued_items gauge name',
  ]);
});

it('starts series of the config at zero', async () => {
  const { registry } = createMetrics(metrics, { remote: ['c2'], name: ['c2-service'] });
  const lines = (await registry.metrics()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      `${PREFIX}_queue_adds_total{name="c2-service"} 0`,
      `${PREFIX}_queue_retries_total{name="c2-service"} 0`,
      `${PREFIX}_queue_work_duration_seconds_count{name="c2-service"} 0`,
      `${PREFIX}_propagation_seconds_count{remote="c2"} 0`,
      `${PREFIX}_config_stale 0`,
    ]),
  );
});
