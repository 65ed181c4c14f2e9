import type { Device, Peer } from '@kube-semaphore/wireguard-tools';

/** A peer as it was when the last byte came from it, and when that was. */
type LastHeard = { readonly peer: Peer; readonly atMs: number };

/** When the last byte of each peer came, as far as counters show it: of a peer that is new to us, now. */
export class Heard {
  readonly #peers = new Map<string, LastHeard>();

  /** @param nowMs of a clock that only goes on: a step would be taken for silence */
  update(devices: readonly Pick<Device, 'name' | 'peers'>[], nowMs: number): void {
    const before = new Map(this.#peers);
    this.#peers.clear();
    for (const { name, peers } of devices)
      for (const peer of peers) {
        const key = `${name} ${peer.publicKey}`;
        const known = before.get(key);
        const isSame = known?.peer.receivedBytes === peer.receivedBytes;
        this.#peers.set(key, isSame ? known : { peer, atMs: nowMs });
      }
  }

  /** Undefined before the first update with this peer. */
  last(device: string, publicKey: string): LastHeard | undefined {
    return this.#peers.get(`${device} ${publicKey}`);
  }
}
