import type { RemoteList } from '@kube-semaphore/multicluster';
import { compareText } from '@kube-semaphore/naming';
import { type Logger, type Samples, sampleLine } from '@kube-semaphore/runtime';
import type { Device, Peer, WireGuardTools } from '@kube-semaphore/wireguard-tools';
import type { WireGuardOptions } from '../config/options.ts';
import { type DeviceSettings, devicesOf } from '../mesh/desired/settings.ts';
import { type HandshakeClock, tunnelState } from '../mesh/desired/handshake.ts';
import { metrics as table, type WireGuardMetrics } from './metrics.ts';

/** With more peers, only the worst have series of their own by default. */
const MANY = 500;

/** How many of these. */
const WORST = 20;

/** The metrics of peers. 500 peers have 2,500 series, so they are written as text without a registry. */
const ofPeers: readonly (readonly [
  name: string,
  samples: (peer: Peer) => readonly (readonly [more: Readonly<Record<string, string>>, value: number])[],
])[] = [
  [table.peerInfo.name, ({ endpoint = '' }) => [[{ endpoint }, 1]]],
  [table.peerAllowedIps.name, ({ allowedIps }) => allowedIps.map((allowed_ips) => [{ allowed_ips }, 1])],
  [table.peerReceivedBytes.name, ({ receivedBytes }) => [[{}, receivedBytes]]],
  [table.peerSentBytes.name, ({ sentBytes }) => [[{}, sentBytes]]],
  [table.peerLastHandshake.name, ({ latestHandshakeSeconds = 0 }) => [[{}, latestHandshakeSeconds]]],
];

export type ObserveInput = {
  readonly devices: { readonly tools: Pick<WireGuardTools, 'devices'> };
  readonly remotes: RemoteList<Pick<DeviceSettings, 'device' | 'keyRotation'>>;
  readonly metrics: Pick<WireGuardMetrics, 'deviceInfo' | 'peers'>;
  readonly options: Pick<WireGuardOptions, 'peerMetrics'>;
  readonly clock: () => HandshakeClock;
  readonly log: Logger;
};

/** Which peers have series of their own, and when a peer is stale. */
export type ShowOptions = HandshakeClock & Pick<WireGuardOptions, 'peerMetrics'>;

/** Observes the devices of the config, and sets their metrics. Never rejects. @returns the samples of their peers */
export async function observeMetrics({
  devices,
  remotes,
  metrics,
  options,
  clock,
  log,
}: ObserveInput): Promise<Samples> {
  try {
    const observed = await devices.tools.devices({ signal: new AbortController().signal });
    const ours = observed.filter(({ name }) => remotes.all.some(({ settings }) => devicesOf(settings).includes(name)));
    return showDevices(metrics, ours, { ...clock(), peerMetrics: options.peerMetrics });
  } catch (error) {
    log.debug({ error }, 'devices not observed; their metrics stay');
    return new Map();
  }
}

/** Sets the metrics of all devices; removed devices and peers aren't exported any more. @returns the samples of their peers */
export function showDevices(
  { deviceInfo, peers: peerCounts }: Pick<WireGuardMetrics, 'deviceInfo' | 'peers'>,
  devices: readonly Device[],
  options: ShowOptions,
): Samples {
  deviceInfo.reset();
  peerCounts.reset();
  for (const { name: device, publicKey, peers } of devices) {
    if (publicKey !== undefined) deviceInfo.set({ device, public_key: publicKey }, 1);
    const counts = { up: 0, stale: 0, never: 0 };
    for (const peer of peers) counts[tunnelState(peer, options)]++;
    for (const [state, count] of Object.entries(counts)) peerCounts.set({ device, state }, count);
  }
  const shown = devices.map(({ name: device, peers }) => ({ device, peers: shownPeers(peers, options) }));
  return new Map(
    ofPeers.map(([name, samples]) => {
      const lines = shown.flatMap(({ device, peers }) =>
        peers.flatMap((peer) =>
          samples(peer).map(([more, value]) =>
            sampleLine(name, { device, public_key: peer.publicKey, ...more }, value),
          ),
        ),
      );
      return [name, lines.join('')];
    }),
  );
}

/**
 * All peers, or of many the worst: those without a handshake in the order of their keys, then the stale ones, the oldest handshake
 * first. Of peers that are up, it would be others at each scrape, and Prometheus keeps each series for hours.
 */
function shownPeers(peers: readonly Peer[], { peerMetrics, ...clock }: ShowOptions): readonly Peer[] {
  if (peerMetrics === 'all' || peers.length <= MANY) return peers;
  return peers
    .filter((peer) => tunnelState(peer, clock) !== 'up')
    .toSorted(
      (a, b) =>
        (a.latestHandshakeSeconds ?? 0) - (b.latestHandshakeSeconds ?? 0) || compareText(a.publicKey, b.publicKey),
    )
    .slice(0, WORST);
}
