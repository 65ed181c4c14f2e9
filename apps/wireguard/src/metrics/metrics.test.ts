import { createMetrics } from '@kube-semaphore/runtime';
import { expect, it } from 'vitest';
import { metrics } from './metrics.ts';

const PREFIX = 'semaphore_wg';

it('keeps the names, types and labels of the Go program', () => {
  const fromGo = Object.values(metrics)
    .filter(({ name }) => /_wg_(kube|sync|node|device|peer)_/.test(name))
    .map(
      ({ name, type, labels }) => `${name.slice(PREFIX.length + 1)} ${type} ${Object.keys(labels).toSorted().join()}`,
    );
  expect(fromGo).toEqual([
    'kube_http_request_total counter code,host,method',
    'sync_peers_total counter device,success',
    'sync_queue_full_failures_total counter device',
    'sync_requeue_total counter device',
    'node_watcher_failures_total counter cluster,verb',
    'device_info gauge device,public_key',
    'peer_info gauge device,endpoint,public_key',
    'peer_allowed_ips_info gauge allowed_ips,device,public_key',
    'peer_receive_bytes_total counter device,public_key',
    'peer_transmit_bytes_total counter device,public_key',
    'peer_last_handshake_seconds gauge device,public_key',
  ]);
});

it('starts series with labels from the config at zero', async () => {
  const { registry } = createMetrics(metrics, { remote: ['c2'], cluster: ['c2'], device: ['wireguard.c2'] });
  const lines = (await registry.metrics()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      `${PREFIX}_sync_peers_total{device="wireguard.c2",success="0"} 0`,
      `${PREFIX}_sync_queue_full_failures_total{device="wireguard.c2"} 0`,
      `${PREFIX}_sync_requeue_total{device="wireguard.c2"} 0`,
      `${PREFIX}_node_watcher_failures_total{cluster="c2",verb="watch"} 0`,
      `${PREFIX}_propagation_seconds_count{remote="c2"} 0`,
      `${PREFIX}_config_stale 0`,
    ]),
  );
});
