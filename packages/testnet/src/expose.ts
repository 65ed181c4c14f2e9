import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Place } from './namespace.ts';

const relay = fileURLToPath(new URL('./expose-relay.ts', import.meta.url));

/**
 * Listens on a free port of 127.0.0.1 out here, and leads connections to 127.0.0.1:`port` in a place, until the place ends.
 * A socket belongs to the namespace that it was made in: a process in the place gets the listening socket, and connects there.
 *
 * @returns the port out here
 */
export async function expose(place: Place, port: number): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const child = place.spawn(process.execPath, [relay, String(port)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const failed = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`port ${port} of a place can't be reached: ${String(signal ?? `exit code ${code}`)}`);
  });
  child.send('listening', server, (error) => {
    if (error === null) server.close();
  });
  await Promise.race([once(child, 'message'), failed]);
  failed.catch(() => {});
  // It must not keep this process running.
  child.disconnect();
  child.unref();
  return address.port;
}
