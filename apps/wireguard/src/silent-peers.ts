import type { Peer } from '@kube-semaphore/wireguard-tools';
import { type HandshakeClock, tunnelState } from './handshake.ts';

/** When a peer was last well, or first seen, and what had been sent to it by then. */
type Watched = { atSeconds: number; sentBytes: number; told: boolean };

/** Peers of a device that fell silent since the last look, and those that spoke again; in the order of the dump. */
export type Silence = { readonly lost: readonly Peer[]; readonly back: readonly Peer[] };

/**
 * Finds peers that are sent something and answer nothing: no handshake for `staleSeconds`. Each is told once, and once
 * more when it is back.
 */
export class SilentPeers {
  #peers = new Map<string, Watched>();

  /** @param peers of the device, all of them, as they are now */
  look(peers: readonly Peer[], clock: HandshakeClock): Silence {
    const [lost, back]: [Peer[], Peer[]] = [[], []];
    const next = new Map<string, Watched>();
    for (const peer of peers) {
      const before = this.#peers.get(peer.publicKey);
      const isUp = tunnelState(peer, clock) === 'up';
      if (isUp && before?.told === true) back.push(peer);
      const watched = isUp || before === undefined ? { atSeconds: clock.nowSeconds, sentBytes: peer.sentBytes, told: false } : before;
      const silentSeconds = clock.nowSeconds - watched.atSeconds;
      if (!isUp && !watched.told && silentSeconds >= clock.staleSeconds && peer.sentBytes > watched.sentBytes) {
        lost.push(peer);
        watched.told = true;
      }
      next.set(peer.publicKey, watched);
    }
    this.#peers = next;
    return { lost, back };
  }
}
