import type { Device } from '@kube-semaphore/wireguard-tools';

/** When the last byte of each peer came, as far as counters show it: of a peer that is new to us, now. */
export class Heard {
  readonly #peers = new Map<string, { readonly receivedBytes: number; readonly atMs: number }>();

  /** @param nowMs of a clock that only goes on: a step would be taken for silence */
  update(devices: readonly Device[], nowMs: number): void {
    const before = new Map(this.#peers);
    this.#peers.clear();
    for (const { name, peers } of devices)
      for (const { publicKey, receivedBytes } of peers) {
        const key = `${name} ${publicKey}`;
        const known = before.get(key);
        this.#peers.set(key, known?.receivedBytes === receivedBytes ? known : { receivedBytes, atMs: nowMs });
      }
  }

  /** @returns milliseconds of the same clock; undefined before the first update with this peer */
  atMs(device: string, publicKey: string): number | undefined {
    return this.#peers.get(`${device} ${publicKey}`)?.atMs;
  }
}
