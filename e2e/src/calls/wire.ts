import { packetIn, wireGuardMessage } from '@kube-semaphore/testnet';

/** The frames of a link: how many of each kind, and how many show a secret. */
export type Wire = {
  /** WireGuard's data messages. */
  readonly encrypted: number;
  /** WireGuard's handshakes, neighbor discovery, and all other frames. */
  readonly others: number;
  readonly readable: number;
};

/** Counts Ethernet frames by kind. @param secret a text that was sent; not empty */
export function inspect(frames: readonly Buffer[], secret: string): Wire {
  const encrypted = frames.filter((frame) => {
    const packet = packetIn(frame);
    return packet !== undefined && wireGuardMessage(packet) === 'data';
  }).length;
  return {
    encrypted,
    others: frames.length - encrypted,
    readable: frames.filter((frame) => frame.includes(secret)).length,
  };
}
