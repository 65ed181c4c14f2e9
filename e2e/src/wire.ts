import { packetIn, wireGuardMessage } from '@kube-semaphore/testnet';

/** What crossed a wire: how many frames of which kind, and in how many of them a secret can be read. */
export type Wire = {
  /** Packets inside WireGuard's. */
  readonly encrypted: number;
  /** WireGuard's handshakes, what nodes say to find each other, and whatever else there is. */
  readonly others: number;
  readonly readable: number;
};

/** Sorts Ethernet frames. @param secret what was sent inside, not empty */
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
