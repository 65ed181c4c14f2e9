import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { familyOf } from '@kube-semaphore/net';

/** Of the service `discard`: what listens there, if anything, doesn't answer. */
const PORT = 9;

/**
 * Sends an empty UDP packet to each address. What the other end does with it doesn't matter: its WireGuard has received data, so it
 * sends something within ten seconds. The source is an address of the device that leads there. Never rejects, and always ends.
 */
export async function ask(addresses: readonly string[]): Promise<void> {
  for (const [type, own] of Map.groupBy(addresses, (address) => `udp${familyOf(address)}` as const)) {
    const socket = createSocket(type);
    // Without a free file or an address of its own, a socket can't be bound; then no callback is called.
    const unbound = new Promise<void>((resolve) => socket.on('error', () => resolve()));
    const sent = own.map(
      (address) =>
        new Promise<void>((resolve) => {
          // Without a route, an error. A peer that isn't reached is what we want to know.
          socket.send(Buffer.alloc(0), PORT, address, () => resolve());
        }),
    );
    await Promise.race([Promise.all(sent), unbound]);
    const closed = once(socket, 'close');
    socket.close();
    await closed;
  }
}
