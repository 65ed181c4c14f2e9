import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A TCP port of 127.0.0.1 that is free now. It is below the kernel's ephemeral ports, so that
 * no outgoing connection takes it before the bind, or while a server restarts.
 * Another test may take it: then the caller retries with another port.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    if (await canBind(port)) return port;
  }
}

async function canBind(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false; // EADDRINUSE; a port above 1023 has no other reason
  }
  server.close();
  await once(server, 'close');
  return true;
}
