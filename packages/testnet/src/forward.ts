import { once } from 'node:events';
import { connect, type Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { join } from './join.ts';
import type { Place } from './namespace.ts';

const listener = fileURLToPath(new URL('./forward-listener.ts', import.meta.url));

/**
 * Listens on `host` (default: 127.0.0.1) at `port` in a place, and leads each connection to 127.0.0.1:`port` out here. A socket belongs to
 * the namespace that it was made in: a short-lived process makes it there, and hands it over.
 *
 * @returns the server, to be closed
 */
export async function forward(place: Place, port: number, host = '127.0.0.1'): Promise<Server> {
  const child = place.spawn(process.execPath, [listener, String(port), host], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // One that has ended well has sent it; but what it sent takes a few turns to become a server here.
  const failed = once(child, 'exit').then(([code]) => (code === 0 ? new Promise<never>(() => {}) : []));
  const [, server] = (await Promise.race([once(child, 'message'), failed])) as [unknown?, Server?];
  if (server === undefined) throw new Error(`nothing listens on port ${port} of the node`);
  server.on('connection', (socket) => void join(socket, connect(port, '127.0.0.1')));
  return server;
}
