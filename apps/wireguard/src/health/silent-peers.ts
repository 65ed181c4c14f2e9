import type { Peer } from '@kube-semaphore/wireguard-tools';
import { type HandshakeClock, tunnelState } from '../desired/handshake.ts';

/** A peer since a handshake, or since it was first seen without one: what had been sent to it by then. */
type Watched = {
  readonly handshakeSeconds: number | undefined;
  readonly sinceSeconds: number;
  readonly sentBytes: number;
  readonly told: boolean;
};

/** Peers of a device that fell silent since the last look, and those that spoke again; in the order of the dump. */
export type Silence = { readonly lost: readonly Peer[]; readonly back: readonly Peer[] };

/**
 * Finds peers that are sent something and answer nothing: no handshake for `staleSeconds`. Each is told once, and once
 * more when it is back.
 */
export class SilentPeers {
  #peers: ReadonlyMap<string, Watched> = new Map();

  /** @param peers of the device, all of them, as they are now */
  look(peers: readonly Peer[], clock: HandshakeClock): Silence {
    const [lost, back]: [Peer[], Peer[]] = [[], []];
    const next = new Map<string, Watched>();
    for (const peer of peers) {
      const before = this.#peers.get(peer.publicKey);
      const isUp = tunnelState(peer, clock) === 'up';
      if (isUp && before?.told === true) back.push(peer);
      const watched = watchedSince(peer, before, clock);
      const isLost =
        !isUp && clock.nowSeconds - watched.sinceSeconds >= clock.staleSeconds && peer.sentBytes > watched.sentBytes;
      if (isLost && !watched.told) lost.push(peer);
      next.set(peer.publicKey, { ...watched, told: !isUp && (watched.told || isLost) });
    }
    this.#peers = next;
    return { lost, back };
  }
}

/** Silence begins with the last handshake, and not when that has become too old. */
function watchedSince(
  { latestHandshakeSeconds: handshakeSeconds, sentBytes }: Peer,
  before: Watched | undefined,
  { nowSeconds }: HandshakeClock,
): Watched {
  if (before !== undefined && before.handshakeSeconds === handshakeSeconds) return before;
  return { handshakeSeconds, sinceSeconds: handshakeSeconds ?? nowSeconds, sentBytes, told: before?.told ?? false };
}
