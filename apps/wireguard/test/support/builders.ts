import { type Cidr, mustParseCidr as cidr } from '@kube-semaphore/net';
import type { Logger } from '@kube-semaphore/runtime';
import type { Device, Link, Peer } from '@kube-semaphore/wireguard-tools';
import type { Claim } from '../../src/mesh/desired/conflicts.ts';
import { type CalicoClaimsOf, DesiredPeers, type PeersAndSkipped } from '../../src/mesh/desired/peers.ts';
import type { RemoteNode } from '../../src/mesh/desired/remote-node.ts';
import type { RemoteSettings } from '../../src/config/settings.ts';
import type { ObservedNode } from '../../src/mesh/local/observe.ts';
import { type BorrowedAddresses, CalicoClaims, claimsOf, type NodeBlock } from '../../src/mesh/remote/calico-blocks.ts';

export { cidr };

/** What the config has now. */
export const remoteList = (...settings: readonly RemoteSettings[]) => ({
  all: settings.map((each) => ({ settings: each })),
});

/** A public key by its number. */
export const key = (number: number): string => Buffer.from(new Uint8Array(32).fill(number + 1)).toString('base64');

/** A candidate for a peer. The number in its name sets its key, endpoint and age: `n1` is the oldest. */
export function remoteNode(name: string, podCidrs: readonly string[], more: Partial<RemoteNode> = {}): RemoteNode {
  const number = Number(name.slice(1));
  return {
    uid: `uid of ${name}`,
    name,
    createdMs: number * 1_000,
    readyUntilMs: Infinity,
    publicKey: key(number),
    endpoint: `192.0.2.${number}:51820`,
    podCidrs: podCidrs.map(cidr),
    ...more,
  };
}

/** The peers of Nodes that all came at once. */
export function desiredPeers(
  nodes: Iterable<RemoteNode>,
  { ownKeys, calicoClaims: claims }: { readonly ownKeys: ReadonlySet<string>; readonly calicoClaims?: CalicoClaimsOf },
): PeersAndSkipped {
  const desired = new DesiredPeers(claims);
  desired.update(new Map([...nodes].map((node) => [node.name, node])), ownKeys);
  return desired.all();
}

/** What each Node has by objects of Calico's IPAM. */
export function calicoClaims(
  affinities: readonly NodeBlock[],
  blocks: readonly BorrowedAddresses[],
  podSubnets: readonly Cidr[],
): ReadonlyMap<string, readonly Claim[]> {
  const claims = new CalicoClaims(podSubnets);
  const given = [...affinities, ...blocks].map(claimsOf);
  for (const [i, now] of given.entries()) claims.replace(String(i), { before: [], now });
  const names = [...new Set(given.flat().map(({ node }) => node))];
  return new Map(
    names.flatMap((name) => {
      const own = claims.get(name);
      return own === undefined ? [] : [[name, own] as const];
    }),
  );
}

/** A peer as `wg` shows it. Its tunnel works at the Unix time 1,000 s. */
export function observedPeer(publicKey: string, more: Partial<Peer> = {}): Peer {
  return {
    publicKey,
    hasPresharedKey: false,
    endpoint: '192.0.2.1:51820',
    allowedIps: ['10.4.1.0/24'],
    latestHandshakeSeconds: 990,
    receivedBytes: 0,
    sentBytes: 0,
    keepaliveSeconds: 25,
    ...more,
  };
}

/** A device as `wg` shows it. */
export const observedDevice = (peers: readonly Peer[], more: Partial<Device> = {}): Device => {
  return { name: 'wireguard.c2', publicKey: key(200), listenPort: 51_820, fwMark: 0, peers, ...more };
};

/** The same device as `ip` shows it. */
export const observedLink = (more: Partial<Link> = {}): Link => {
  return {
    name: 'wireguard.c2',
    index: 7,
    kind: 'wireguard',
    up: true,
    mtuBytes: 1420,
    alias: 'semaphore-wireguard c2',
    addresses: [],
    receiveFrameErrors: 0,
    receivedBytes: 0,
    sentBytes: 0,
    ...more,
  };
};

/** A node with devices: name, alias, and the public key of those that speak WireGuard. */
export const observedNode = (
  ...list: readonly (readonly [name: string, alias: string, publicKey?: string])[]
): ObservedNode => ({
  links: list.map(([name, alias]) => observedLink({ name, alias })),
  devices: list.flatMap(([name, , publicKey]) =>
    publicKey === undefined ? [] : [observedDevice([], { name, publicKey })],
  ),
});

/** A logger that writes nothing. */
export const silentLog: Logger = {
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** The remote `c2` of a minimal config file. */
export const remoteSettings = (more: Partial<RemoteSettings> = {}): RemoteSettings => ({
  name: 'c2',
  reference: { kind: 'in-cluster' },
  families: undefined,
  podSubnets: [cidr('10.4.0.0/16')],
  device: 'wireguard.c2',
  mtuBytes: 1420,
  measuresMtu: false,
  listenPort: 51_820,
  resyncPeriodMs: 0,
  endpointFamily: undefined,
  endpointFrom: 'internalIP',
  dialOut: false,
  allowedIpsFrom: 'podCIDRs',
  allowedEndpoints: undefined,
  deviceAddress: 'none',
  keyRotation: undefined,
  reportSilentAfterMs: 0,
  ...more,
});
