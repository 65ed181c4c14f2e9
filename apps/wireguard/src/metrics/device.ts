import { type Logger, type Samples, sampleLine } from '@kube-semaphore/runtime';
import type { Device, Peer, WireGuardTools } from '@kube-semaphore/wireguard-tools';
import { type HandshakeClock, tunnelState } from '../desired/handshake.ts';
import { metrics as table, type WireGuardMetrics } from './metrics.ts';

/** The metrics of peers. A thousand peers have six thousand series, so they are written as text without a registry. */
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
  readonly remotes: readonly { readonly device: string }[];
  readonly metrics: Pick<WireGuardMetrics, 'deviceInfo' | 'peers'>;
  readonly clock: () => HandshakeClock;
  readonly log: Logger;
};

/** Observes the devices of the config, and sets their metrics. Never rejects. @returns the samples of their peers */
export async function observeMetrics({ devices, remotes, metrics, clock, log }: ObserveInput): Promise<Samples> {
  try {
    const observed = await devices.tools.devices({ signal: new AbortController().signal });
    const ours = observed.filter(({ name }) => remotes.some(({ device }) => device === name));
    return showDevices(metrics, ours, clock());
  } catch (error) {
    log.debug({ error }, 'devices not observed; their metrics stay');
    return new Map();
  }
}

/** Sets the metrics of all devices; removed devices and peers aren't exported any more. @returns the samples of their peers */
export function showDevices(
  { deviceInfo, peers: peerCounts }: Pick<WireGuardMetrics, 'deviceInfo' | 'peers'>,
  devices: readonly Device[],
  clock: HandshakeClock,
): Samples {
  deviceInfo.reset();
  peerCounts.reset();
  for (const { name: device, publicKey, peers } of devices) {
    if (publicKey !== undefined) deviceInfo.set({ device, public_key: publicKey }, 1);
    const counts = { up: 0, stale: 0, never: 0 };
    for (const peer of peers) counts[tunnelState(peer, clock)]++;
    for (const [state, count] of Object.entries(counts)) peerCounts.set({ device, state }, count);
  }
  return new Map(
    ofPeers.map(([name, samples]) => {
      const lines = devices.flatMap(({ name: device, peers }) =>
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
