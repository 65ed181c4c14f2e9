import type { Agent } from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { ClusterAuthError, reasonOf } from './errors.ts';
import { http } from './http.ts';
import type { KeyPair } from './trust/pem.ts';

/** The end of a tunnel; IPv6 without brackets. */
export type Target = { readonly host: string; readonly port: number };

/** Opens a connection to the target through a proxy. Rejects with a ClusterAuthError. */
export type Tunnel = (target: Target, options: { signal: AbortSignal }) => Promise<Socket>;

type AgentOptions = {
  /** PEM; undefined: the roots that Node.js has built in. */
  readonly ca: string | undefined;
  readonly keyPair?: KeyPair | undefined;
  /** The name or address that the certificate must have, if not the URL's host. */
  readonly tlsServerName?: string | undefined;
  readonly tunnel?: Tunnel | undefined;
};

/** Concurrent watches and requests; more wait for a socket. */
const MAX_SOCKETS = 64;

/** How often TCP keeps an idle connection alive: client-go's value. Load balancers drop idle connections. */
const KEEPALIVE_MS = 30_000;

const POOL = { keepAlive: true, keepAliveMsecs: KEEPALIVE_MS, maxSockets: MAX_SOCKETS, scheduling: 'lifo' } as const;

/** An agent for an API server without TLS. */
export const createPlainAgent = (): Agent => new PlainAgent(POOL);

/**
 * An agent for one API server. It has no timeout of its own: a watch may be silent for minutes.
 *
 * All connections share one TLS context, because a bundle of 140 roots is slow to parse. The context also keeps the
 * certificates out of the key of Node.js' socket pool, a string that it builds for each request.
 *
 * @throws {ClusterAuthError} if OpenSSL refuses a certificate, for example because its key is too short
 */
export function createAgent({ ca, keyPair, tlsServerName, tunnel }: AgentOptions): https.Agent {
  const options: https.AgentOptions = {
    ...POOL,
    secureContext: secureContextOf(ca, keyPair),
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 changes the default.
    rejectUnauthorized: true,
    ...(tlsServerName !== undefined && verifyAs(tlsServerName)),
  };
  return tunnel === undefined ? new DirectAgent(options) : new TunnelAgent(options, tunnel);
}

function secureContextOf(ca: string | undefined, keyPair: KeyPair | undefined): tls.SecureContext {
  try {
    return tls.createSecureContext({
      minVersion: 'TLSv1.2',
      ...(ca !== undefined && { ca }),
      ...(keyPair !== undefined && { cert: keyPair.certPem, key: keyPair.keyPem }),
    });
  } catch (cause) {
    const message = `the CA or the client certificate can't be used: ${reasonOf(cause)}`;
    throw new ClusterAuthError('CLUSTER_CERTIFICATE', message, { cause });
  }
}

/** TLS has no server names that are addresses (RFC 6066, section 3), but a certificate may be for an address. */
function verifyAs(name: string): https.AgentOptions {
  return {
    servername: isIP(name) === 0 ? name : '',
    checkServerIdentity: (_host, certificate) => tls.checkServerIdentity(name, certificate),
  };
}

/**
 * Takes an agent out of use: idle sockets are closed, running requests finish, and requests that still start on it get
 * a socket that is closed afterwards.
 */
export function retire(agent: Agent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy();
  }
}

/** Whether an agent has a socket in use, or a request that waits for one. */
export function isBusy(agent: Agent): boolean {
  return Object.keys(agent.sockets).length > 0 || Object.keys(agent.requests).length > 0;
}

/**
 * Once an answer has arrived completely, Node.js removes its error listener from the socket, even if the answer isn't
 * read yet. An abort at that moment destroys the socket with an error without a listener, which ends the process. The
 * request or its answer reports the error anyway.
 */
class DirectAgent extends https.Agent {
  override createConnection(
    ...connection: Parameters<https.Agent['createConnection']>
  ): ReturnType<https.Agent['createConnection']> {
    return super.createConnection(...connection)?.on('error', () => {});
  }
}

/** As `DirectAgent`. */
class PlainAgent extends http.Agent {
  override createConnection(
    ...connection: Parameters<Agent['createConnection']>
  ): ReturnType<Agent['createConnection']> {
    return super.createConnection(...connection)?.on('error', () => {});
  }
}

class TunnelAgent extends DirectAgent {
  readonly #tunnel: Tunnel;
  readonly #destroyed = new AbortController();

  constructor(options: https.AgentOptions, tunnel: Tunnel) {
    super(options);
    this.#tunnel = tunnel;
  }

  override createConnection(
    options: https.RequestOptions,
    callback?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const target = { host: options.host ?? 'localhost', port: Number(options.port ?? 443) };
    const settle = callback as (error: Error | null, socket?: Duplex | null) => void;
    this.#tunnel(target, { signal: this.#destroyed.signal })
      .then((socket) => super.createConnection({ ...options, socket } as https.RequestOptions))
      .then(
        (secured) => settle(null, secured),
        (error: unknown) => settle(error as Error),
      );
  }

  override destroy(): void {
    this.#destroyed.abort();
    super.destroy();
  }
}
