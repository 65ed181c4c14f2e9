import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { Certificate } from '@kube-semaphore/embedded-apiserver';
import { freePort } from './free-port.ts';

/** What happens to a new connection: it is served, held before its TLS handshake, or reset. */
export type Admission = 'serve' | 'hold' | 'reset';

export type PortOptions = {
  readonly certificate: Certificate;
  /** Called for each new connection, before any byte is read, and again for held ones. */
  readonly admit: () => Admission;
  readonly onRequest: RequestListener;
};

const ATTEMPTS = 5;

/** An HTTPS server whose port can close and reopen, and whose TCP connections can be reset. */
export class Port {
  readonly #admit: () => Admission;
  /** Never listens: it gets the connections that are served. */
  readonly #https;
  readonly #connections = new Map<string, Socket>();
  readonly #held = new Set<Socket>();
  #acceptor: Server | undefined;
  #number = 0;

  constructor({ certificate, admit, onRequest }: PortOptions) {
    this.#admit = admit;
    const { certPem: cert, keyPem: key } = certificate;
    // No HTTP timeouts, because watches may be silent for an hour.
    this.#https = createHttpsServer({ cert, key, keepAliveTimeout: 0, requestTimeout: 0 }, onRequest);
  }

  /** The present port, or the last one. */
  get number(): number {
    return this.#number;
  }

  /**
   * Opens a port for the first time. It must not be an ephemeral one: while it is closed, a client that retries
   * would in the end get it as its own source port, and connect to itself.
   */
  async openAny(): Promise<void> {
    for (let attempt = 1; this.#acceptor === undefined; attempt += 1) {
      this.#number = await freePort();
      try {
        await this.open();
      } catch (error) {
        if (attempt === ATTEMPTS || (error as { code?: unknown }).code !== 'EADDRINUSE') throw error;
      }
    }
  }

  /** New connections get this certificate. */
  present({ certPem: cert, keyPem: key }: Certificate): void {
    this.#https.setSecureContext({ cert, key });
  }

  /** Listens, on the same port as before. Idempotent. */
  async open(): Promise<void> {
    if (this.#acceptor !== undefined) return;
    // No delay between a head and a body in two packets, as in HTTP servers.
    const acceptor = createTcpServer({ pauseOnConnect: true, noDelay: true }, (socket) => this.#accept(socket));
    acceptor.listen(this.#number, '127.0.0.1');
    await once(acceptor, 'listening');
    this.#acceptor = acceptor;
  }

  /** Closes the port and resets all connections. Idempotent. */
  async close(): Promise<void> {
    const acceptor = this.#acceptor;
    this.#acceptor = undefined;
    if (acceptor === undefined) return;
    const closed = once(acceptor, 'close');
    acceptor.close();
    this.resetAll();
    await closed;
  }

  /** Resets every connection, and accepts new ones. */
  resetAll(): void {
    for (const socket of this.#connections.values()) socket.resetAndDestroy();
  }

  /** Resets the TCP connection of a request, because a TLS socket can't be reset. */
  reset(tlsSocket: Socket): void {
    this.#connections.get(peer(tlsSocket))?.resetAndDestroy();
  }

  /** Decides again about the held connections. */
  reconsider(): void {
    const held = [...this.#held];
    this.#held.clear();
    for (const socket of held) this.#receive(socket);
  }

  #accept(socket: Socket): void {
    const key = peer(socket);
    this.#connections.set(key, socket);
    // Ignores a reset by the client: 'close' follows.
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#connections.delete(key);
      this.#held.delete(socket);
    });
    this.#receive(socket);
  }

  #receive(socket: Socket): void {
    switch (this.#admit()) {
      case 'serve':
        this.#https.emit('connection', socket);
        break;
      case 'hold':
        this.#held.add(socket);
        break;
      case 'reset':
        socket.resetAndDestroy();
        break;
    }
  }
}

/** Identifies a connection to one port; the same for its TLS and its TCP socket. */
function peer({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}
