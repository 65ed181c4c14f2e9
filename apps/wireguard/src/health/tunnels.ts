import type { Logger } from '@kube-semaphore/runtime';
import type { Device } from '@kube-semaphore/wireguard-tools';
import { handshakeAge, type HandshakeClock } from '../desired/handshake.ts';
import type { Reconciled } from '../reconciler.ts';
import { SilentPeers } from './silent-peers.ts';

/** Tells of tunnels that don't work. */
export class Tunnels {
  readonly #log: Logger;
  readonly #clock: () => HandshakeClock;
  readonly #silent = new Map<string, SilentPeers>();

  constructor({ log, clock }: { readonly log: Logger; readonly clock: () => HandshakeClock }) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Takes a look at the device of a remote. */
  look({ settings }: Pick<Reconciled, 'settings'>, device: Device | undefined): void {
    const clock = this.#clock();
    const silent = this.#silent.get(settings.name) ?? new SilentPeers();
    this.#silent.set(settings.name, silent);
    const { lost, back } = silent.look(device?.peers ?? [], clock);
    for (const peer of lost) {
      const facts = {
        cluster: settings.name,
        peer: peer.publicKey,
        endpoint: peer.endpoint,
        allowedIps: peer.allowedIps,
      };
      this.#log.warn(
        { ...facts, handshakeSeconds: handshakeAge(peer, clock.nowSeconds) },
        'a peer answers nothing that is sent to it',
      );
    }
    for (const { publicKey } of back)
      this.#log.info({ cluster: settings.name, peer: publicKey }, 'a peer answers again');
  }
}
