import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { Certificate } from '@kube-semaphore/embedded-apiserver';
import { freePort } from './free-port.ts';

/** What becomes of a new connection: it is served, left waiting for its TLS handshake, or reset. */
export type Admission = 'serve' | 'hold' | 'reset';

export type PortOptions = {
  readonly certificate: Certificate;
  /** Asked for each new connection, before any byte is read, and again for those on hold. */
  readonly admit: () => Admission;
  readonly onRequest: RequestListener;
};

const ATTEMPTS = 5;

/** An HTTPS server whose port can be closed and opened again, and whose TCP connections are within reach. */
export class Port {
  readonly #admit: () => Admission;
  /** Never listens: it is handed the connections that are to be served. */
  readonly #https;
  readonly #connections = new Map<string, Socket>();
  readonly #held = new Set<Socket>();
  #acceptor: Server | undefined;
  #number = 0;

  constructor({ certificate, admit, onRequest }: PortOptions) {
    this.#admit = admit;
    const { certPem: cert, keyPem: key } = certificate;
    // Watches stay open for an hour without a byte, so nothing of HTTP may time out.
    this.#https = createHttpsServer({ cert, key, keepAliveTimeout: 0, requestTimeout: 0 }, onRequest);
  }

  /** Where it listens, or listened last. */
  get number(): number {
    return this.#number;
  }

  /**
   * Opens any port for the first time. Not one that the kernel gives out: while it is closed a client that keeps
   * knocking would sooner or later be given it as its own, and be connected to itself.
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

  /** Listens, on the same port as before. Idempotent. */
  async open(): Promise<void> {
    if (this.#acceptor !== undefined) return;
    // As HTTP servers do: a head and a body in two packets mustn't wait for each other.
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

  /** Resets every connection; new ones are welcome. */
  resetAll(): void {
    for (const socket of this.#connections.values()) socket.resetAndDestroy();
  }

  /** Resets the connection of a request. TLS sockets can't: what is reset is the TCP connection below. */
  reset(tlsSocket: Socket): void {
    this.#connections.get(peer(tlsSocket))?.resetAndDestroy();
  }

  /** Asks anew what becomes of the connections on hold. */
  reconsider(): void {
    const held = [...this.#held];
    this.#held.clear();
    for (const socket of held) this.#receive(socket);
  }

  #accept(socket: Socket): void {
    const key = peer(socket);
    this.#connections.set(key, socket);
    // A client that resets its connection is none of our business: 'close' follows.
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

/** By what a connection to one port is told from all others, whether one looks at its TLS or its TCP socket. */
function peer({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}
