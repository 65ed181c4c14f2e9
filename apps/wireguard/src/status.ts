import { familyNames, notReached, type RemoteStatus as SharedStatus } from '@kube-semaphore/multicluster';
import { compareText, parseReport, silentAnnotation } from '@kube-semaphore/naming';
import { wordsOf } from '@kube-semaphore/runtime';
import { pageOf, printable } from '@kube-semaphore/text';
import type { Peer } from '@kube-semaphore/wireguard-tools';
import { type NodeDiagnostic, skippedLine } from './mesh/desired/diagnostic.ts';
import { handshakeAge, type HandshakeClock, type TunnelState, tunnelState } from './mesh/desired/handshake.ts';
import { type Observation, type ObservedNode, refusedPacketsOf } from './mesh/local/observe.ts';
import { devicesOf } from './mesh/desired/settings.ts';
import { remoteOfAlias } from './names.ts';
import type { RotationStatus } from './rotation/rotation.ts';
import type { MeshRemote } from './mesh/remote/mesh-remote.ts';

/** A peer of a device, as it is. */
type PeerStatus = {
  /** Its Node; null if the peer isn't a desired one, or its remote was not reached. */
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

/** A remote and the device that leads to it. */
export type RemoteStatus = {
  readonly remote: string;
  readonly deviceName: string;
  /** Null without a device. Without our mark, the device belongs to somebody else or isn't adopted yet. */
  readonly device: {
    readonly publicKey: string | null;
    readonly listenPort: number;
    readonly marked: boolean;
    readonly mtuBytes: number | null;
  } | null;
  /** Whether its MTU follows the paths to its peers. */
  readonly measuresMtu: boolean;
  /** The second device, while keys rotate. */
  readonly secondDevice?: {
    readonly name: string;
    readonly publicKey: string | null;
    readonly peers: readonly PeerStatus[];
  };
  /** Undefined: no key rotates, or it is unknown. */
  readonly rotation?: RotationStatus;
  /** Packets from the remote with a source that isn't in the allowed IPs of their sender. Null: unknown, as with wireguard-go. */
  readonly refusedPackets: number | null;
  /** Whether its Nodes were listed in time. */
  readonly reached: boolean;
  /** Why it was not reached, in words; undefined: it was, or it gave no answer at all. */
  readonly failure: string | undefined;
  readonly peers: readonly PeerStatus[];
  /** Nodes that should be peers, but aren't yet. */
  readonly missing: readonly string[];
  /** Nodes that our Node reports as silent. */
  readonly silent: readonly string[];
  readonly skipped: readonly NodeDiagnostic[];
};

/** What a status is made of, besides the devices. */
type StatusFacts = { readonly clock: HandshakeClock; readonly rotation: RotationStatus | undefined };
/** What is on the node, with the annotations of our Node. */
type ObservedAll = ObservedNode & { readonly annotations: Readonly<Record<string, string>> };

/** What a remote has on this node. Its peers are in the order of their Nodes and keys; those without a Node come last. */
export function remoteStatus(
  remote: Pick<MeshRemote, 'settings' | 'peers' | 'skipped' | 'failure'>,
  { devices, links, annotations }: ObservedAll,
  { clock, rotation }: StatusFacts,
): RemoteStatus {
  const { name, device: deviceName } = remote.settings;
  const device = devices.find((candidate) => candidate.name === deviceName);
  const link = links.find((candidate) => candidate.name === deviceName);
  const marked = link !== undefined && remoteOfAlias(link.alias) === name;
  const desired = remote.peers(new Set(devices.flatMap(({ publicKey }) => publicKey ?? [])));
  const nodes = new Map(desired?.peers.map(({ publicKey, node }) => [publicKey, node]));
  const statusOf = (peer: Peer): PeerStatus => ({
    node: nodes.get(peer.publicKey) ?? null,
    publicKey: peer.publicKey,
    state: tunnelState(peer, clock),
    handshakeAgeSeconds: handshakeAge(peer, clock.nowSeconds) ?? null,
    endpoint: peer.endpoint ?? null,
    receivedBytes: peer.receivedBytes,
    sentBytes: peer.sentBytes,
    allowedIps: peer.allowedIps,
  });
  const peers = (device?.peers ?? []).map(statusOf);
  const second = devices.find((candidate) => candidate.name === remote.settings.keyRotation?.secondDevice);
  const here = new Set([...peers, ...(second?.peers ?? [])].map(({ publicKey }) => publicKey));
  return {
    remote: name,
    deviceName,
    device:
      device === undefined
        ? null
        : {
            publicKey: device.publicKey ?? null,
            listenPort: device.listenPort,
            marked,
            mtuBytes: link?.mtuBytes ?? null,
          },
    measuresMtu: remote.settings.measuresMtu,
    ...(second?.publicKey !== undefined && {
      secondDevice: {
        name: second.name,
        publicKey: second.publicKey,
        peers: second.peers.map(statusOf).toSorted(byNodeAndKey),
      },
    }),
    ...(rotation !== undefined && { rotation }),
    refusedPackets: refusedPacketsOf(link) ?? null,
    reached: desired !== undefined,
    failure: desired === undefined ? remote.failure : undefined,
    peers: peers.toSorted(byNodeAndKey),
    silent: parseReport(annotations[silentAnnotation(name)] ?? '')?.silent ?? [],
    missing: desired?.peers.filter(({ publicKey }) => !here.has(publicKey)).map(({ node }) => node) ?? [],
    skipped: desired === undefined ? [] : [...remote.skipped, ...desired.skipped],
  };
}

/** What `/status` says of a remote. */
type ServedStatus = SharedStatus & { readonly config: object } & (
    | (Omit<RemoteStatus, 'remote' | 'reached' | 'failure' | 'skipped'> & {
        /** Pod addresses of the remote that this node sends elsewhere. */
        readonly unrouted: readonly string[];
        /** Why the device isn't as it must be. */
        readonly deviceError?: string;
      })
    | { readonly deviceError: string }
  );

/** @param observed the error if the node couldn't be observed: its device and peers are unknown */
export function servedStatus(
  remote: Pick<MeshRemote, 'settings' | 'peers' | 'skipped' | 'failure' | 'status'>,
  observed: (ObservedAll & Pick<Observation, 'routes'>) | Error,
  { deviceError, ...facts }: StatusFacts & { readonly deviceError?: string | undefined },
): ServedStatus {
  const { settings } = remote;
  const { listenPort, mtuBytes, families, podSubnets, allowedEndpoints } = settings;
  const config = {
    listenPort,
    mtuBytes: settings.measuresMtu ? null : mtuBytes,
    families: familyNames(families),
    podSubnets: podSubnets.map(({ text }) => text),
    allowedIPsFrom: settings.allowedIpsFrom,
    allowedEndpointCIDRs: allowedEndpoints?.map(({ text }) => text) ?? null,
  };
  const status = { ...remote.status(), config };
  if (observed instanceof Error) return { ...status, deviceError: wordsOf(observed) };
  const {
    remote: _,
    reached: _reached,
    failure: _failure,
    skipped: _skipped,
    ...ours
  } = remoteStatus(remote, observed, facts);
  const devices: readonly (string | undefined)[] = devicesOf(settings);
  const unrouted = config.podSubnets.filter(
    (subnet) => !observed.routes.some(({ destination, device }) => destination === subnet && devices.includes(device)),
  );
  return { ...status, ...ours, unrouted, ...(deviceError !== undefined && { deviceError }) };
}

/** What `status` prints. */
export type Status = {
  readonly remotes: readonly RemoteStatus[];
  /** Why there is no Node of ours, if that is known. */
  readonly problem: string | undefined;
};

/** 0, or 1 if we have no Node, or a remote was not reached. */
export const statusExitCode = ({ remotes, problem }: Status): 0 | 1 =>
  problem === undefined && remotes.every(({ reached }) => reached) ? 0 : 1;

/** A status for people. Ends in a line break. */
export const statusText = ({ remotes }: Pick<Status, 'remotes'>): string =>
  pageOf(remotes.flatMap((remote, i) => [...(i === 0 ? [] : ['']), ...linesOf(remote)]));

function linesOf(status: RemoteStatus): readonly string[] {
  const { remote, deviceName, device, measuresMtu, refusedPackets } = status;
  const facts = device && [
    deviceName,
    `port ${device.listenPort}`,
    `public key ${device.publicKey ?? '(none)'}`,
    ...(device.marked ? [] : ['without our mark']),
    ...(measuresMtu && device.mtuBytes !== null ? [`MTU ${device.mtuBytes}, measured`] : []),
  ];
  return [
    `${remote}: ${facts?.join(', ') ?? `${deviceName} does not exist`}`,
    ...(status.reached
      ? []
      : [notReached(remote, status.failure), 'The Nodes of its peers, and skipped Nodes, are unknown.']),
    ...status.peers.map(peerLine),
    ...(status.secondDevice === undefined ? [] : secondLines(status.secondDevice)),
    ...(status.rotation === undefined ? [] : rotationLines(status.rotation)),
    ...(refusedPackets
      ? [`refused  ${refusedPackets} packets whose source is no address of the Node that sent them`]
      : []),
    ...status.missing.map((node) => `missing  ${printable(node)}`),
    ...status.silent.map((node) => `silent   ${node}`),
    ...status.skipped.map(skippedLine),
  ];
}

const secondLines = ({ name, publicKey, peers }: NonNullable<RemoteStatus['secondDevice']>): readonly string[] => [
  `second device: ${name}, public key ${publicKey ?? '(none)'}`,
  ...peers.map(peerLine),
];

function rotationLines({ plane, since, rotating, laggards }: RotationStatus): readonly string[] {
  const place = plane === 0 ? 'first' : 'second';
  return [
    since === null
      ? `keys rotate of ${rotating.length === 0 ? 'no node now: the nodes come back' : rotating.map(printable).join(', ')}`
      : `keys rotate of this node since ${since}, which announces its ${place} device`,
    ...laggards.map((node) => `laggard  ${printable(node)}`),
  ];
}

function peerLine(peer: PeerStatus): string {
  const { node, publicKey, state, handshakeAgeSeconds: age } = peer;
  const facts = [
    printable(node ?? publicKey),
    peer.endpoint ?? 'no endpoint',
    age === null ? 'no handshake' : `handshake ${age} s ago`,
    `${bytes(peer.receivedBytes)} in`,
    `${bytes(peer.sentBytes)} out`,
    ...peer.allowedIps,
  ];
  return `${state.padEnd(7)}  ${facts.join('  ')}`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Bytes as people read them: `512 B`, `1.5 KiB`. */
function bytes(count: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(count, 1)) / 10), UNITS.length - 1);
  return `${power === 0 ? count : (count / 1024 ** power).toFixed(1)} ${UNITS[power]}`;
}

function byNodeAndKey(a: PeerStatus, b: PeerStatus): number {
  const withoutNodeLast = Number(a.node === null) - Number(b.node === null);
  return withoutNodeLast || compareText(a.node ?? '', b.node ?? '') || compareText(a.publicKey, b.publicKey);
}
