import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { addProcessMetrics } from './process-metrics.ts';

it('addProcessMetrics exports the default names, each once, and no delay of an idle loop', async () => {
  const registry = new Registry();
  addProcessMetrics(registry);
  const text = await registry.metrics();
  const names = text.match(/(?<=^# TYPE )\S+/gm) ?? [];
  expect(names).toEqual([...new Set(names)]);
  expect(names).toEqual(
    expect.arrayContaining([
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'process_start_time_seconds',
      'nodejs_gc_duration_seconds',
      'nodejs_heap_size_used_bytes',
      'nodejs_eventloop_lag_seconds',
      'nodejs_eventloop_lag_stddev_seconds',
      'nodejs_eventloop_lag_p99_seconds',
    ]),
  );
  expect(text).toContain('nodejs_eventloop_lag_max_seconds 0\n');
});
