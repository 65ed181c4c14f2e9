import type { Agent } from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import tls, { type TLSSocket } from 'node:tls';
import { dial, KEEPALIVE_MS, type Target } from './dial.ts';
import { handshake } from './handshake.ts';
import { http } from './http.ts';
import type { KeyPair } from '../trust/pem.ts';
import { SecureContexts } from '../trust/secure-contexts.ts';

/** Opens a connection to the target, perhaps through a proxy. Rejects with an error that names what can't be reached. */
export type Tunnel = (target: Target, options: { signal: AbortSignal }) => Promise<Socket>;

type AgentOptions = {
  /** PEM; undefined: the roots that Node.js has built in. */
  readonly ca: string | undefined;
  readonly keyPair?: KeyPair | undefined;
  /** The name or address that the certificate must have, if not the URL's host. */
  readonly tlsServerName?: string | undefined;
  /** Default: no proxy. */
  readonly tunnel?: Tunnel | undefined;
  /** Accepts any certificate. Default: no, whatever NODE_TLS_REJECT_UNAUTHORIZED says. */
  readonly insecure?: boolean | undefined;
};

/** What a request can tell our agents. */
export type AgentRequestOptions = https.RequestOptions & {
  /**
   * Ends the connection that is being opened for the request, and so the request. Node.js reports the end of a request only
   * once it has a socket, and passes the option `signal` to no agent.
   */
  readonly connectSignal?: AbortSignal;
};

/** Concurrent watches and requests; more wait for a socket. Sockets that aren't open yet are not counted. */
const MAX_SOCKETS = 64;

const POOL = { keepAlive: true, keepAliveMsecs: KEEPALIVE_MS, maxSockets: MAX_SOCKETS, scheduling: 'lifo' } as const;

/** An agent for an API server without TLS. */
export const createPlainAgent = (): Agent => new PlainAgent(POOL);

/**
 * An agent for one API server. It limits how long a connection may take to open, and has no other timeout: a watch may be
 * silent for minutes.
 *
 * The TLS contexts also keep the certificates out of the key of Node.js' socket pool, a string that it builds for each
 * request.
 *
 * @throws {ClusterAuthError} as `SecureContexts`
 */
export function createAgent(agentOptions: AgentOptions): https.Agent {
  const { ca, keyPair, tlsServerName, tunnel = dial, insecure = false } = agentOptions;
  const options: https.AgentOptions = {
    ...POOL,
    rejectUnauthorized: !insecure,
    ...(tlsServerName !== undefined && verifyAs(tlsServerName)),
  };
  return new SecureAgent(options, new SecureContexts(ca, keyPair), tunnel);
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

/** Whether an agent has a socket in use, opens one, or has a request that waits for one. */
export function isBusy(agent: Agent): boolean {
  const isOpening = (agent instanceof PlainAgent || agent instanceof SecureAgent) && agent.openings.count > 0;
  // Node.js leaves an empty list for a connection that never opened.
  const isUsed = Object.values(agent.sockets).some((sockets) => sockets !== undefined && sockets.length > 0);
  return isOpening || isUsed || Object.keys(agent.requests).length > 0;
}

type Created = (error: Error | null, socket: Duplex) => void;

/** The connections that an agent is opening, of which Node.js doesn't know yet. */
class Openings {
  readonly #ended = new AbortController();
  count = 0;

  /** @param created gets the socket or the error */
  add(
    open: (target: Target, options: { signal: AbortSignal }) => Promise<Socket>,
    { host, port, connectSignal }: AgentRequestOptions,
    created: Created | undefined,
  ): void {
    const settle = created as (error: Error | null, socket?: Socket | null) => void;
    const target = { host: host ?? 'localhost', port: Number(port ?? 443) };
    const signal = AbortSignal.any([this.#ended.signal, ...(connectSignal === undefined ? [] : [connectSignal])]);
    this.count++;
    open(target, { signal })
      .finally(() => this.count--)
      .then(
        (socket) => settle(null, socket),
        (error: unknown) => settle(error as Error),
      );
  }

  end(): void {
    this.#ended.abort();
  }
}

class PlainAgent extends http.Agent {
  readonly openings = new Openings();

  override createConnection(options: AgentRequestOptions, created?: Created): undefined {
    this.openings.add(dial, options, created);
  }

  override destroy(): void {
    this.openings.end();
    super.destroy();
  }
}

class SecureAgent extends https.Agent {
  readonly openings = new Openings();
  readonly #contexts: SecureContexts;
  readonly #tunnel: Tunnel;

  constructor(options: https.AgentOptions, contexts: SecureContexts, tunnel: Tunnel) {
    super(options);
    this.#contexts = contexts;
    this.#tunnel = tunnel;
  }

  override createConnection(options: AgentRequestOptions, created?: Created): undefined {
    this.openings.add(
      (target, { signal }) =>
        this.#contexts.connect(async (secureContext) => {
          const socket = await this.#tunnel(target, { signal });
          const connection = { ...options, socket, secureContext } as https.RequestOptions;
          return handshake(super.createConnection(connection) as TLSSocket, { signal });
        }),
      options,
      created,
    );
  }

  override destroy(): void {
    this.openings.end();
    super.destroy();
  }
}
