import { notReached } from '@kube-semaphore/multicluster';
import { jsonPage, pageOf, printable } from '@kube-semaphore/text';
import type { Device } from '@kube-semaphore/wireguard-tools';
import type { DesiredPeer } from './desired/peers.ts';
import { handshakeAge, type HandshakeClock, type TunnelState, tunnelState } from './desired/handshake.ts';
import type { NodeDiagnostic } from './desired/diagnostic.ts';

/** A peer of a device, as it is. */
type PeerStatus = {
  /** Its Node; null if the peer is none that we want, or its remote wasn't reached. */
  readonly node: string | null;
  readonly publicKey: string;
  readonly state: TunnelState;
  /** Null before the first handshake. */
  readonly handshakeAgeSeconds: number | null;
  readonly endpoint: string | null;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  readonly allowedIps: readonly string[];
};

/** A remote with the device that leads to it. */
export type RemoteStatus = {
  readonly remote: string;
  readonly deviceName: string;
  /** Null if there is none. Without our mark it is somebody else's, or not taken over yet. */
  readonly device: { readonly publicKey: string | null; readonly listenPort: number; readonly marked: boolean } | null;
  /** Whether its Nodes were listed in time. */
  readonly reached: boolean;
  /** Why it was not reached, in words; undefined: it was, or there was no answer at all. */
  readonly failure: string | undefined;
  readonly peers: readonly PeerStatus[];
  /** Nodes that should be peers, and aren't there yet. */
  readonly missing: readonly string[];
  readonly skipped: readonly NodeDiagnostic[];
};

export type StatusInput = {
  readonly remote: string;
  readonly deviceName: string;
  readonly device: Device | undefined;
  /** Whether that has our mark. */
  readonly marked: boolean;
  /** Undefined: the remote wasn't reached. */
  readonly desired: { readonly peers: readonly DesiredPeer[]; readonly left: readonly NodeDiagnostic[] } | undefined;
  /** Why it isn't reached, if it isn't, in words. */
  readonly failure: string | undefined;
  readonly clock: HandshakeClock;
};

/** What there is of a remote on this node; peers in the order of their Nodes and keys, those without a Node last. */
export function remoteStatus({
  remote,
  deviceName,
  device,
  marked,
  desired,
  failure,
  clock,
}: StatusInput): RemoteStatus {
  const nodes = new Map(desired?.peers.map(({ publicKey, node }) => [publicKey, node]));
  const peers = (device?.peers ?? []).map((peer) => ({
    node: nodes.get(peer.publicKey) ?? null,
    publicKey: peer.publicKey,
    state: tunnelState(peer, clock),
    handshakeAgeSeconds: handshakeAge(peer, clock.nowSeconds) ?? null,
    endpoint: peer.endpoint ?? null,
    receivedBytes: peer.receivedBytes,
    sentBytes: peer.sentBytes,
    allowedIps: peer.allowedIps,
  }));
  const here = new Set(peers.map(({ publicKey }) => publicKey));
  return {
    remote,
    deviceName,
    device:
      device === undefined ? null : { publicKey: device.publicKey ?? null, listenPort: device.listenPort, marked },
    reached: desired !== undefined,
    failure: desired === undefined ? failure : undefined,
    peers: peers.toSorted(byNodeAndKey),
    missing: desired?.peers.filter(({ publicKey }) => !here.has(publicKey)).map(({ node }) => node) ?? [],
    skipped: desired?.left ?? [],
  };
}

/** A status for programs: one JSON object, and a line break. */
export const statusJson = (remotes: readonly RemoteStatus[]): string => jsonPage({ remotes });

/** A status for people. Ends in a line break. */
export const statusText = (remotes: readonly RemoteStatus[]): string =>
  pageOf(remotes.flatMap((remote, i) => [...(i === 0 ? [] : ['']), ...linesOf(remote)]));

function linesOf({
  remote,
  deviceName,
  device,
  reached,
  failure,
  peers,
  missing,
  skipped,
}: RemoteStatus): readonly string[] {
  const head =
    device === null
      ? `${deviceName} is not there`
      : `${deviceName}, port ${device.listenPort}, public key ${device.publicKey ?? '(none)'}${device.marked ? '' : ', without our mark'}`;
  return [
    `${remote}: ${head}`,
    ...(reached
      ? []
      : [notReached(remote, failure), 'Which Nodes its peers are, and which are left out, is not known']),
    ...peers.map(peerLine),
    ...missing.map((node) => `none   ${printable(node)}`),
    ...skipped.map(
      ({ node, kind, detail }) => `${kind === 'problem' ? 'skip!' : 'skip '}  ${printable(node)}: ${printable(detail)}`,
    ),
  ];
}

function peerLine({
  node,
  publicKey,
  state,
  handshakeAgeSeconds: age,
  endpoint,
  receivedBytes,
  sentBytes,
  allowedIps,
}: PeerStatus): string {
  const handshake = age === null ? 'no handshake' : `handshake ${age} s ago`;
  return `${state.padEnd(5)}  ${[printable(node ?? publicKey), endpoint ?? 'no endpoint', handshake, `${bytes(receivedBytes)} in`, `${bytes(sentBytes)} out`, ...allowedIps].join('  ')}`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Bytes as people read them: `512 B`, `1.5 KiB`. */
function bytes(count: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(count, 1)) / 10), UNITS.length - 1);
  return `${power === 0 ? count : (count / 1024 ** power).toFixed(1)} ${UNITS[power]}`;
}

function byNodeAndKey(a: PeerStatus, b: PeerStatus): number {
  if ((a.node === null) !== (b.node === null)) return a.node === null ? 1 : -1;
  const [one, other] = [`${a.node ?? ''}/${a.publicKey}`, `${b.node ?? ''}/${b.publicKey}`];
  return one < other ? -1 : Number(one > other);
}
