import type { Peer } from '@kube-semaphore/wireguard-tools';
import { type HandshakeClock, tunnelState } from '../desired/handshake.ts';

/** A peer since its last handshake, or since it was first seen without one. */
type Watched = {
  readonly handshakeSeconds: number | undefined;
  readonly sinceSeconds: number;
  /** What had been sent to it by then. */
  readonly sentBytes: number;
  readonly isLost: boolean;
};

/** Peers that stopped answering since the last update, and those that answer again; in the order of the dump. */
export type Silence = { readonly lost: readonly Peer[]; readonly back: readonly Peer[] };

/** Finds peers of a device that get packets but don't answer: no handshake for `staleSeconds`. */
export class SilentPeers {
  #peers: ReadonlyMap<string, Watched> = new Map();

  /** @param peers all peers of the device, as they are now */
  update(peers: readonly Peer[], clock: HandshakeClock): Silence {
    const [lost, back]: [Peer[], Peer[]] = [[], []];
    const next = new Map<string, Watched>();
    for (const peer of peers) {
      const before = this.#peers.get(peer.publicKey);
      const watched = watchedSince(peer, before, clock);
      const isUp = tunnelState(peer, clock) === 'up';
      const isSilent =
        clock.nowSeconds - watched.sinceSeconds >= clock.staleSeconds && peer.sentBytes > watched.sentBytes;
      const isLost = !isUp && (watched.isLost || isSilent);
      if (isLost && !watched.isLost) lost.push(peer);
      if (isUp && watched.isLost) back.push(peer);
      next.set(peer.publicKey, { ...watched, isLost });
    }
    this.#peers = next;
    return { lost, back };
  }
}

/** Silence begins with the last handshake, not when that handshake becomes stale. */
function watchedSince(
  { latestHandshakeSeconds: handshakeSeconds, sentBytes }: Peer,
  before: Watched | undefined,
  { nowSeconds }: HandshakeClock,
): Watched {
  if (before !== undefined && before.handshakeSeconds === handshakeSeconds) return before;
  return { handshakeSeconds, sinceSeconds: handshakeSeconds ?? nowSeconds, sentBytes, isLost: before?.isLost ?? false };
}
