import { beforeScrape, createMetrics } from '@kube-semaphore/runtime';
import type { Device } from '@kube-semaphore/wireguard-tools';
import { expect, it } from 'vitest';
import { showDevices } from './device.ts';
import { metrics as metricTable } from './metrics.ts';
import { key, observedDevice, observedPeer } from '../../test/support/builders.ts';

const clock = { nowSeconds: 1_000, staleSeconds: 180 };

it('shows the present devices and peers, and no removed ones', async () => {
  const { metrics, registry } = createMetrics(metricTable);
  let devices: readonly Device[] = [];
  beforeScrape(registry, () => Promise.resolve(showDevices(metrics, devices, clock)));
  const shown = async () =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => /^semaphore_wg_(device|peer)/.test(line))
      .map((line) =>
        line
          .replaceAll(key(1), 'K1')
          .replaceAll(key(2), 'K2')
          .replaceAll(key(200), 'OWN')
          .replace('device="wireguard.c2",', ''),
      )
      .toSorted();
  const lost = observedPeer(key(2), {
    endpoint: undefined,
    allowedIps: [],
    latestHandshakeSeconds: undefined,
    sentBytes: 5,
  });
  devices = [observedDevice([observedPeer(key(1), { receivedBytes: 700, sentBytes: 900 }), lost])];
  expect(await shown()).toEqual([
    'semaphore_wg_device_info{public_key="OWN"} 1',
    'semaphore_wg_peer_allowed_ips_info{public_key="K1",allowed_ips="10.4.1.0/24"} 1',
    'semaphore_wg_peer_info{public_key="K1",endpoint="192.0.2.1:51820"} 1',
    'semaphore_wg_peer_info{public_key="K2",endpoint=""} 1',
    'semaphore_wg_peer_last_handshake_seconds{public_key="K1"} 990',
    'semaphore_wg_peer_last_handshake_seconds{public_key="K2"} 0',
    'semaphore_wg_peer_receive_bytes_total{public_key="K1"} 700',
    'semaphore_wg_peer_receive_bytes_total{public_key="K2"} 0',
    'semaphore_wg_peer_transmit_bytes_total{public_key="K1"} 900',
    'semaphore_wg_peer_transmit_bytes_total{public_key="K2"} 5',
    'semaphore_wg_peers{state="never"} 1',
    'semaphore_wg_peers{state="stale"} 0',
    'semaphore_wg_peers{state="up"} 1',
  ]);
  // The kernel counts on from where it was: what is shown is its number, and no sum of ours.
  devices = [observedDevice([observedPeer(key(1), { receivedBytes: 701, latestHandshakeSeconds: 1 })])];
  expect(await shown()).toEqual([
    'semaphore_wg_device_info{public_key="OWN"} 1',
    'semaphore_wg_peer_allowed_ips_info{public_key="K1",allowed_ips="10.4.1.0/24"} 1',
    'semaphore_wg_peer_info{public_key="K1",endpoint="192.0.2.1:51820"} 1',
    'semaphore_wg_peer_last_handshake_seconds{public_key="K1"} 1',
    'semaphore_wg_peer_receive_bytes_total{public_key="K1"} 701',
    'semaphore_wg_peer_transmit_bytes_total{public_key="K1"} 0',
    'semaphore_wg_peers{state="never"} 0',
    'semaphore_wg_peers{state="stale"} 1',
    'semaphore_wg_peers{state="up"} 0',
  ]);
});
