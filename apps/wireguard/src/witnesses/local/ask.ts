import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** Of the service `discard`: what listens there, if anything, doesn't answer. */
const PORT = 9;

/**
 * Sends an empty UDP packet to each address. What the other end does with it doesn't matter: its WireGuard has received data, so it
 * sends something within ten seconds. The source is an address of the device that leads there. Never rejects.
 */
export async function ask(addresses: readonly string[]): Promise<void> {
  for (const type of ['udp4', 'udp6'] as const) {
    const own = addresses.filter((address) => address.includes(':') === (type === 'udp6'));
    if (own.length === 0) continue;
    const socket = createSocket(type);
    // Without a route, or with an answer of ICMP. A peer that isn't reached is what we want to know.
    socket.on('error', () => undefined);
    const sent = own.map(
      (address) =>
        new Promise<void>((resolve) => {
          socket.send(Buffer.alloc(0), PORT, address, () => resolve());
        }),
    );
    await Promise.all(sent);
    const closed = once(socket, 'close');
    socket.close();
    await closed;
  }
}
