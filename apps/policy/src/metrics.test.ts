import { createMetrics } from '@kube-semaphore/runtime';
import { expect, it } from 'vitest';
import { metrics } from './metrics.ts';

it('has the names and labels of the Go program, and counters that start at zero', async () => {
  const { registry } = createMetrics(metrics);
  const lines = (await registry.metrics()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'semaphore_policy_calico_client_request_total{type="update",success="1"} 0',
      'semaphore_policy_calico_client_request_total{type="list",success="0"} 0',
      'semaphore_policy_pod_watcher_failures_total{type="watch"} 0',
      'semaphore_policy_sync_queue_full_failures_total 0',
      'semaphore_policy_sync_requeue_total 0',
      '# TYPE semaphore_policy_propagation_seconds histogram',
      'semaphore_policy_config_stale 0',
    ]),
  );
});
