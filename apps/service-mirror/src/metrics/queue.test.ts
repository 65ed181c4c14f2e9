import { createMetrics } from '@kube-semaphore/runtime';
import type { Remote } from '@kube-semaphore/multicluster';
import { expect, it } from 'vitest';
import type { RemoteSettings } from '../config/settings.ts';
import { metrics as table } from './metrics.ts';
import { QueueMetrics } from './queue.ts';

async function run(steps: (queue: QueueMetrics, clock: { ms: number }) => void) {
  const clock = { ms: 0 };
  const { metrics, registry } = createMetrics(table, { remote: [] });
  const remotes = { byName: new Map(['c2', 'c3'].map((name) => [name, {} as Remote<RemoteSettings>])) };
  steps(new QueueMetrics({ metrics, remotes, local: 'c1', now: () => clock.ms }), clock);
  const text = await registry.metrics();
  return (name: string, queue = 'c2-service') => {
    const line = text
      .split('\n')
      .find((each) => each.startsWith(`semaphore_service_mirror_queue_${name}{`) && each.includes(`name="${queue}"`));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  };
}

it('measures how long keys waited and were reconciled, and counts the waiting ones', async () => {
  const value = await run((queue, clock) => {
    queue.added('c2/ns/a');
    queue.added('c2/ns/b');
    queue.added('c3/ns/a');
    clock.ms = 2_000;
    queue.started('c2/ns/a');
    clock.ms = 5_000;
    queue.ended('c2/ns/a', { failed: false });
    queue.started('c2/ns/b');
    clock.ms = 6_000;
    queue.sample();
  });
  expect(value('adds_total')).toBe(2);
  expect(value('depth')).toBe(0);
  expect(value('depth', 'c3-service')).toBe(1);
  expect(value('latency_duration_seconds_sum')).toBe(7);
  expect(value('work_duration_seconds_sum')).toBe(3);
  expect(value('unfinished_work_seconds')).toBe(1);
  expect(value('longest_running_processor_seconds')).toBe(1);
});

it('counts failed keys until they succeed', async () => {
  const fail = (queue: QueueMetrics) => {
    queue.started('c2/ns/a');
    queue.ended('c2/ns/a', { failed: true });
  };
  const failing = await run((queue) => {
    fail(queue);
    fail(queue);
  });
  expect([failing('retries_total'), failing('requeued_items')]).toEqual([2, 1]);
  const succeeded = await run((queue) => {
    fail(queue);
    queue.started('c2/ns/a');
    queue.ended('c2/ns/a', { failed: false });
  });
  expect(succeeded('requeued_items')).toBe(0);
});

it('counts the keys of imports as a queue of the local cluster', async () => {
  const value = await run((queue) => queue.added('@import/shop/web'));
  expect(value('adds_total', 'c1-import')).toBe(1);
});

it('counts no keys of a remote that left the config, and begins anew when it comes again', async () => {
  const value = await run((queue) => {
    queue.added('gone/ns/a');
    queue.added('c2/ns/a');
    queue.forget('c2');
    queue.added('c2/ns/b');
  });
  expect(value('adds_total', 'gone-service')).toBeUndefined();
  expect(value('depth')).toBe(1);
});
