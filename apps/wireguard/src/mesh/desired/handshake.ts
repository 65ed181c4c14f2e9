import type { Peer } from '@kube-semaphore/wireguard-tools';

/** The state of a tunnel, by its last handshake. With a keepalive, a working tunnel has one every two minutes. */
export type TunnelState = 'up' | 'stale' | 'never';

/** The time, and the maximum age of a handshake. */
export type HandshakeClock = {
  /** Unix time. */
  readonly nowSeconds: number;
  readonly staleSeconds: number;
};

/** Seconds since the last handshake; 0 if it is in the future, as after a clock is set back; undefined before the first. */
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
