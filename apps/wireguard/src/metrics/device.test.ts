import { beforeScrape, createMetrics } from '@kube-semaphore/runtime';
import type { Device } from '@kube-semaphore/wireguard-tools';
import { describe, expect, it } from 'vitest';
import { showDevices } from './device.ts';
import { metrics as metricTable } from './metrics.ts';
import { key, observedDevice, observedPeer } from '../../test/support/builders.ts';

const options = { nowSeconds: 1_000, staleSeconds: 180, peerMetrics: 'auto' } as const;

it('shows the present devices and peers, and no removed ones', async () => {
  const { metrics, registry } = createMetrics(metricTable);
  let devices: readonly Device[] = [];
  beforeScrape(registry, () => Promise.resolve(showDevices(metrics, devices, options)));
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

describe('of many peers', () => {
  const peerKey = (number: number) => `key ${String(number).padStart(3, '0')}`;
  /** The last handshake of the peer with this number. */
  const handshakes = new Map<number, number | undefined>();
  const shown = (count: number, more: Partial<typeof options | { peerMetrics: 'all' }> = {}) => {
    const { metrics, registry } = createMetrics(metricTable);
    const peers = Array.from({ length: count }, (_, i) => {
      const latestHandshakeSeconds = handshakes.has(i) ? handshakes.get(i) : 990;
      return observedPeer(peerKey(i), { latestHandshakeSeconds });
    });
    const device = observedDevice(peers.toReversed());
    const samples = showDevices(metrics, [device], { ...options, ...more });
    const keys = [...samples.values()].map((text) => [...text.matchAll(/public_key="([^"]+)"/g)].map(([, key]) => key));
    return { registry, keys };
  };

  it('the worst twenty have series: those without a handshake, then the stale ones, the oldest first', async () => {
    handshakes.clear();
    for (const number of [400, 3, 7]) handshakes.set(number, undefined);
    for (let number = 100; number < 125; number++) handshakes.set(number, 800 - number);
    const { registry, keys } = shown(501);
    const want = [3, 7, 400, ...Array.from({ length: 17 }, (_, i) => 124 - i)].map(peerKey);
    expect(keys).toEqual(Array.from({ length: 5 }, () => want));
    expect(await registry.metrics()).toContain('semaphore_wg_peers{device="wireguard.c2",state="stale"} 25');
  });

  it('those that are up have none', () => {
    handshakes.clear();
    expect(shown(501).keys).toEqual([[], [], [], [], []]);
    handshakes.set(5, 1);
    expect(shown(501).keys[0]).toEqual([peerKey(5)]);
  });

  it.each([
    { name: 'up to 500', count: 500, more: {} },
    { name: 'with -peer-metrics=all', count: 501, more: { peerMetrics: 'all' } as const },
  ])('all have series $name', ({ count, more }) => {
    expect(shown(count, more).keys.map((keys) => keys.length)).toEqual([count, count, count, count, count]);
  });
});
