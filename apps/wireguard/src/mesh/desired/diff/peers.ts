import { compareText } from '@kube-semaphore/naming';
import type { Peer, PeerChange } from '@kube-semaphore/wireguard-tools';
import type { DesiredPeer } from '../peers.ts';
import { type HandshakeClock, tunnelState } from '../handshake.ts';

/** As the Go program: keeps the path open through NATs and firewalls between two nodes. */
export const KEEPALIVE_SECONDS = 25;

/** How to decide whether a peer's endpoint has to change. */
export type EndpointMemory = HandshakeClock & {
  /** By public key: the endpoint of the annotation at the last success. Empty after a start. */
  readonly annotated: ReadonlyMap<string, string>;
};

/** A peer of a device. `keepaliveSeconds`: while keys rotate, one of two planes is silent; default: it isn't. */
export type PlanedPeer = DesiredPeer & { readonly keepaliveSeconds?: number };

/** The changes of peers, and of each peer only what differs: first removals, then the others, in the order of their keys. */
export function diffPeers(
  observed: readonly Peer[],
  desired: readonly PlanedPeer[],
  memory: EndpointMemory,
): readonly PeerChange[] {
  const here = new Map(observed.map((peer) => [peer.publicKey, peer]));
  const wanted = new Set(desired.map(({ publicKey }) => publicKey));
  const unwanted = observed
    .filter(({ publicKey }) => !wanted.has(publicKey))
    .map(({ publicKey }): PeerChange => ({ publicKey, remove: true }));
  const changes = desired.flatMap((peer) => changeOf(here.get(peer.publicKey), peer, memory));
  return [...unwanted.toSorted(byKey), ...changes.toSorted(byKey)];
}

/**
 * The changes since a device was given peers, without observing it: as `diffPeers` if nothing else changed it. The learned
 * endpoints and handshakes are unknown then, so only a new announcement sets an endpoint.
 *
 * @param given what the device was given; a peer that kept the kernel's endpoint still keeps it
 * @param desired instead of these peers
 */
export function diffGiven(given: readonly DesiredPeer[], desired: readonly DesiredPeer[]): readonly PeerChange[] {
  const wanted = new Map(desired.map(({ publicKey, endpoint }) => [publicKey, endpoint]));
  const observed = given.map(({ publicKey, allowedIps, endpoint = wanted.get(publicKey) }) => ({
    publicKey,
    allowedIps,
    endpoint,
    hasPresharedKey: false,
    keepaliveSeconds: KEEPALIVE_SECONDS,
    latestHandshakeSeconds: 0,
    receivedBytes: 0,
    sentBytes: 0,
  }));
  return diffPeers(observed, desired, { annotated: announcedBy(given), nowSeconds: 0, staleSeconds: 0 });
}

/** The announced endpoints of peers, by public key. */
export const announcedBy = (peers: Iterable<DesiredPeer>): ReadonlyMap<string, string> =>
  new Map(
    [...peers].flatMap(({ publicKey, endpoint }) => (endpoint === undefined ? [] : [[publicKey, endpoint] as const])),
  );

function changeOf(observed: Peer | undefined, desired: PlanedPeer, memory: EndpointMemory): readonly PeerChange[] {
  const { publicKey, endpoint, allowedIps, keepaliveSeconds = KEEPALIVE_SECONDS } = desired;
  const named = endpoint === undefined ? {} : { endpoint };
  if (observed === undefined) return [{ publicKey, ...named, allowedIps, keepaliveSeconds }];
  const difference = {
    ...(isSameSet(observed.allowedIps, allowedIps) ? {} : { allowedIps }),
    ...(wantsEndpoint(observed, desired, memory) ? named : {}),
    ...(observed.keepaliveSeconds === keepaliveSeconds ? {} : { keepaliveSeconds }),
    ...(observed.hasPresharedKey ? ({ clearPresharedKey: true } as const) : {}),
  };
  return Object.keys(difference).length === 0 ? [] : [{ publicKey, ...difference }];
}

/**
 * The kernel follows a peer that moves or is behind a NAT, so its endpoint stays while the tunnel works. The annotation's
 * endpoint is set when it is new, or when the tunnel doesn't work.
 */
function wantsEndpoint(observed: Peer, { publicKey, endpoint }: DesiredPeer, memory: EndpointMemory): boolean {
  if (observed.endpoint === endpoint) return false;
  const before = memory.annotated.get(publicKey);
  return (
    observed.endpoint === undefined ||
    (before !== undefined && before !== endpoint) ||
    tunnelState(observed, memory) !== 'up'
  );
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  const values = new Set(a);
  return values.size === b.length && b.every((value) => values.has(value));
}

const byKey = (a: PeerChange, b: PeerChange): number => compareText(a.publicKey, b.publicKey);
