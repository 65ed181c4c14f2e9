import type { Peer } from '@kube-semaphore/wireguard-tools';

/** What a peer's last handshake says of its tunnel. With a keepalive there is one every two minutes while it works. */
export type TunnelState = 'up' | 'stale' | 'never';

/** The time, and how old a handshake may be. */
export type HandshakeClock = {
  /** Unix time. */
  readonly nowSeconds: number;
  readonly staleSeconds: number;
};

/** Seconds since the last handshake, 0 for one that a clock which was set back puts into the future; undefined before the first. */
export function handshakeAge(
  { latestHandshakeSeconds: at }: Pick<Peer, 'latestHandshakeSeconds'>,
  nowSeconds: number,
): number | undefined {
  return at === undefined ? undefined : Math.max(0, nowSeconds - at);
}

/** Whether a tunnel works, as far as its last handshake shows. */
export function tunnelState(
  peer: Pick<Peer, 'latestHandshakeSeconds'>,
  { nowSeconds, staleSeconds }: HandshakeClock,
): TunnelState {
  const age = handshakeAge(peer, nowSeconds);
  if (age === undefined) return 'never';
  return age > staleSeconds ? 'stale' : 'up';
}
