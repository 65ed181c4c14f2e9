import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A TCP port of 127.0.0.1 that is free now. It lies below the ports that the kernel gives out by itself, so that
 * between this call and the bind, or while a server is being restarted, no outgoing connection happens to take it;
 * another test may, so the caller tries again with another port when its server says so.
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
