import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import type { TLSSocket } from 'node:tls';
import {
  type AgentRequestOptions,
  type Authorization,
  type Connection,
  tlsFailure,
} from '@kube-semaphore/cluster-auth';
import { ConnectionError, IdleTimeoutError } from './errors.ts';

/** Not imported: an import of it costs 8 MB, see `http.ts` of cluster-auth. */
const http = process.getBuiltinModule('node:http');

/** API servers and proxies send none, or one. */
const MAX_INTERIM_ANSWERS = 100;

export type Exchange = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, below the cluster's base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Once connected, the exchange ends with IdleTimeoutError if no byte passes in either direction for this long. */
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
  /** Called when the connection is ready, after the TLS handshake. If it throws, nothing is sent. */
  readonly beforeSend?: (() => void) | undefined;
};

/**
 * Sends one request and resolves with the response's head; the caller reads the body. The request is sent once more
 * after a 401 if the credentials were rotated, after a failed TLS check if the CA was, and when the server had closed a
 * kept-alive connection.
 *
 * @throws ConnectionError, IdleTimeoutError; what `beforeSend` throws; ClusterAuthError if the credentials can't be read
 */
export async function send(connection: Connection, exchange: Exchange): Promise<IncomingMessage> {
  const { signal } = exchange;
  let refusal: unknown;
  const beforeSend = (): void => {
    try {
      exchange.beforeSend?.();
    } catch (error) {
      refusal = error;
      throw error;
    }
  };
  for (let attempt = 1; ; attempt++) {
    const last = attempt === 2;
    const authorization = await connection.authorize({ signal });
    let response: IncomingMessage;
    try {
      response = await sendOnce(authorization, { ...exchange, beforeSend });
    } catch (error) {
      signal.throwIfAborted();
      if (refusal !== undefined) throw refusal;
      if (!last && (isStaleSocket(error) || (await connection.connectionFailed(error, authorization, { signal }))))
        continue;
      throw connectionErrorOf(authorization.server, error);
    }
    if (last || response.statusCode !== 401 || !(await connection.unauthorized(authorization, { signal })))
      return response;
    response.destroy();
  }
}

function sendOnce(authorization: Authorization, exchange: Exchange): Promise<IncomingMessage> {
  const { server } = authorization;
  const { method, path, body, idleTimeoutMs, signal } = exchange;
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const isPlain = server.protocol === 'http:';
  const options: AgentRequestOptions = {
    agent: authorization.agent,
    method,
    host: server.hostname.replace(/^\[|\]$/g, ''),
    port: server.port || (isPlain ? 80 : 443),
    path: server.pathname.replace(/\/$/, '') + path,
    headers: {
      ...exchange.headers,
      ...authorization.headers,
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    },
    connectSignal: signal,
  };
  const outgoing = (isPlain ? http : https).request(options);
  // Cheaper than the option `signal`, which also watches for the end of the stream.
  const abort = (): void => void outgoing.destroy(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  outgoing.once('close', () => signal.removeEventListener('abort', abort));
  let response: IncomingMessage | undefined;
  outgoing.once('response', (incoming) => resolve((response = incoming)));
  let interim = 0;
  outgoing.on('information', () => {
    if (++interim > MAX_INTERIM_ANSWERS)
      outgoing.destroy(new Error(`more than ${MAX_INTERIM_ANSWERS} answers of status 1xx`));
  });
  outgoing.setTimeout(idleTimeoutMs, () =>
    // Once there is a response, its reader gets the error of that alone.
    (response ?? outgoing).destroy(new IdleTimeoutError(`${server.host} sent nothing for ${idleTimeoutMs} ms`)),
  );
  outgoing.on('error', (error) => reject(Object.assign(error, { reusedSocket: outgoing.reusedSocket })));
  outgoing.once('socket', (socket) => {
    const finish = (): void => {
      try {
        exchange.beforeSend?.();
        outgoing.end(body);
      } catch (error) {
        outgoing.destroy(error as Error);
      }
    };
    if ((socket as TLSSocket & { secureConnecting?: boolean }).secureConnecting === true)
      socket.once('secureConnect', finish);
    else finish();
  });
  return promise;
}

/** The server closed a kept-alive connection as we wrote to it. That is normal, and it received no request. */
function isStaleSocket(error: unknown): boolean {
  const { code, reusedSocket } = error as { code?: string; reusedSocket?: boolean };
  return reusedSocket === true && (code === 'ECONNRESET' || code === 'EPIPE');
}

/** The error of a connection that failed before the answer or within its body, with the name of the server. */
export function connectionErrorOf(server: URL, cause: unknown): ConnectionError | IdleTimeoutError {
  if (cause instanceof IdleTimeoutError) return cause;
  const known = tlsFailure(cause);
  if (known !== undefined) return new ConnectionError(`${server.host}: ${known}`);
  const { code, message } = cause as { code?: string; message?: string };
  return new ConnectionError(`${server.host}: ${message || code || 'the connection failed'}`, { cause });
}
