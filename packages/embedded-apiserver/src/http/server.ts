import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Certificate } from '../client/certificates.ts';
import { answer, type Backend } from './router.ts';

/** The listener of an embedded cluster: it can stop, and start again on the same port. */
export class ApiServer {
  readonly #backend: Backend;
  readonly #certificate: Certificate;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  constructor(backend: Backend, certificate: Certificate) {
    this.#backend = backend;
    this.#certificate = certificate;
  }

  /** The present port, or the last one. */
  get port(): number {
    return this.#port;
  }

  /** @param port 0 for any free one */
  async listen(port: number): Promise<void> {
    const { certPem: cert, keyPem: key } = this.#certificate;
    // No HTTP timeouts: clients keep watches open for an hour, and idle connections for longer.
    const server = createServer({ cert, key, keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
      answer(this.#backend, request, response).catch((error: unknown) => {
        // Only failures after the start of the answer get here, so the client can't be told.
        response.destroy(error instanceof Error ? error : undefined);
      });
    });
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Resets every connection, as a crash would, and accepts new ones. */
  disconnect(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Resets every connection and closes the port. Idempotent. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    this.disconnect();
    await promise;
  }
}
