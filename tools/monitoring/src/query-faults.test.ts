import type { MetricTable } from '@kube-semaphore/runtime';
import { describe, expect, it } from 'vitest';
import { exportedSeries, seriesOf } from './exported.ts';
import { queryFaults, resultLabels } from './query-faults.ts';

const table = {
  up: { name: 'x_up', type: 'gauge', help: '', labels: { remote: {} } },
  writes: { name: 'x_writes_total', type: 'counter', help: '', labels: { success: { values: ['0', '1'] } } },
  took: { name: 'x_took_seconds', type: 'histogram', help: '', labels: { remote: {} } },
} as const satisfies MetricTable;

const exported = seriesOf(table);

describe('queryFaults', () => {
  it.each([
    'max by (job, remote) (x_up{remote!="local", namespace="a"})',
    'rate(x_writes_total{success="0"}[5m]) > 0',
    'x_writes_total{success=~"0|1"} or x_writes_total{success=~"$success"}',
    'histogram_quantile(0.99, sum by (remote, le) (rate(x_took_seconds_bucket[5m])))',
    'x_took_seconds_sum / x_took_seconds_count{remote="c2"}',
  ])('has nothing against %s', (query) => {
    expect(queryFaults(query, exported)).toEqual([]);
  });

  it.each([
    { name: 'an unknown series', query: 'sum(x_down)', want: ['no app exports x_down'] },
    { name: 'a histogram under its own name', query: 'x_took_seconds', want: ['no app exports x_took_seconds'] },
    { name: 'buckets of a gauge', query: 'x_up_bucket', want: ['no app exports x_up_bucket'] },
    { name: 'an unknown label', query: 'x_up{device="a"}', want: ['x_up has no label device'] },
    { name: 'a bucket of a sum', query: 'x_took_seconds_sum{le="1"}', want: ['x_took_seconds_sum has no label le'] },
    {
      name: 'an unknown value',
      query: 'x_writes_total{success="true"}',
      want: ['success of x_writes_total is never true'],
    },
    {
      name: 'one unknown value of several',
      query: 'x_writes_total{success=~"0|no"}',
      want: ['success of x_writes_total is never no'],
    },
    {
      name: 'a grouping by an unknown label',
      query: 'sum by (device) (x_up)',
      want: ['no series has a label device'],
    },
  ])('finds $name', ({ query, want }) => {
    expect(queryFaults(query, exported)).toEqual(want);
  });
});

describe('resultLabels', () => {
  it.each([
    { name: 'of groupings', query: 'sum by (remote) (x_up)', has: ['remote'], lacks: ['job'] },
    { name: 'of series, without a grouping', query: 'x_up > 0', has: ['remote', 'job'], lacks: ['success'] },
  ])('are those $name', ({ query, has, lacks }) => {
    const labels = resultLabels(query, exported);
    expect([has.filter((label) => labels.has(label)), lacks.filter((label) => labels.has(label))]).toEqual([has, []]);
  });
});

describe('exportedSeries', () => {
  it('has the apps, the process, and the alerts', async () => {
    const some = [
      'semaphore_policy_leader',
      'semaphore_wg_propagation_seconds_bucket',
      'process_cpu_seconds_total',
      'nodejs_eventloop_lag_p99_seconds',
      'ALERTS',
    ];
    expect([...(await exportedSeries()).keys()]).toEqual(expect.arrayContaining(some));
  });
});
