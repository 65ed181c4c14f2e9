import type { Agent } from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { ClusterAuthError, reasonOf } from './errors.ts';
import { http } from './http.ts';
import type { KeyPair } from './trust/pem.ts';

/** Where a tunnel leads; IPv6 without brackets. */
export type Target = { readonly host: string; readonly port: number };

/** Opens a connection to the target by way of a proxy. Rejects with a ClusterAuthError. */
export type Tunnel = (target: Target, options: { signal: AbortSignal }) => Promise<Socket>;

type AgentOptions = {
  /** PEM; undefined is the list of roots that Node was built with. */
  readonly ca: string | undefined;
  readonly keyPair?: KeyPair | undefined;
  /** The name or address that the certificate must be for, where that isn't the URL's host. */
  readonly tlsServerName?: string | undefined;
  readonly tunnel?: Tunnel | undefined;
};

/** Watches and requests of one process at the same time; more wait for a socket. */
const MAX_SOCKETS = 64;

/** Idle connections are kept alive by TCP this often, which is client-go's value: load balancers forget sooner. */
const KEEPALIVE_MS = 30_000;

const POOL = { keepAlive: true, keepAliveMsecs: KEEPALIVE_MS, maxSockets: MAX_SOCKETS, scheduling: 'lifo' } as const;

/** An agent for an API server without TLS. */
export const createPlainAgent = (): Agent => new PlainAgent(POOL);

/**
 * An agent for one API server. It has no timeout of its own: a watch may be silent for minutes.
 *
 * The TLS context is made once and not per connection (parsing a bundle of 140 roots takes a while), which also
 * keeps the certificates out of the key under which Node pools sockets, a string it builds for each request.
 *
 * @throws {ClusterAuthError} for certificates that OpenSSL doesn't take, such as those with keys too short
 */
export function createAgent({ ca, keyPair, tlsServerName, tunnel }: AgentOptions): https.Agent {
  const options: https.AgentOptions = {
    ...POOL,
    secureContext: secureContextOf(ca, keyPair),
    // Said in so many words, as NODE_TLS_REJECT_UNAUTHORIZED=0 would switch it off otherwise.
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

/** An address is no server name in TLS (RFC 6066, section 3), but a certificate may be for one. */
function verifyAs(name: string): https.AgentOptions {
  return {
    servername: isIP(name) === 0 ? name : '',
    checkServerIdentity: (_host, certificate) => tls.checkServerIdentity(name, certificate),
  };
}

/**
 * Takes an agent out of use: idle sockets are closed, running requests finish, and what still starts on it gets a
 * socket that is closed afterwards.
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
 * Node.js takes its own error listener off a socket once an answer has come to its end, also while that isn't read yet: an
 * abort just then destroys the socket with an error that nobody hears, which ends the process. What fails is told by the
 * request, or by its answer.
 */
class DirectAgent extends https.Agent {
  override createConnection(
    ...connection: Parameters<https.Agent['createConnection']>
  ): ReturnType<https.Agent['createConnection']> {
    return super.createConnection(...connection)?.on('error', () => {});
  }
}

/** For the same reason. */
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
