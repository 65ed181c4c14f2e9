import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import type { TLSSocket } from 'node:tls';
import { type Authorization, type Connection, tlsFailure } from '@kube-semaphore/cluster-auth';
import { ConnectionError, IdleTimeoutError } from './errors.ts';

/** Not imported: an import of it costs 8 MB, see `http.ts` of cluster-auth. */
const http = process.getBuiltinModule('node:http');

export type Exchange = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, below the cluster's base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Without a byte in either direction for so long, the exchange ends with IdleTimeoutError. */
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
  /** Called when nothing is left to wait for, not even the TLS handshake; if it throws, nothing is sent. */
  readonly beforeSend?: (() => void) | undefined;
};

/**
 * Sends one request and resolves with the response's head; its body is still to be read. Once it is sent again:
 * after a 401 if the credentials were rotated meanwhile, after a failed TLS check if the CA was, and when a
 * kept-alive connection turns out to be closed.
 *
 * @throws ConnectionError, IdleTimeoutError; what `beforeSend` throws; ClusterAuthError when the credentials can't be read
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
      response = await sendOnce(connection.server, authorization, { ...exchange, beforeSend });
    } catch (error) {
      signal.throwIfAborted();
      if (refusal !== undefined) throw refusal;
      if (!last && (isStaleSocket(error) || (await connection.connectionFailed(error, authorization, { signal }))))
        continue;
      throw brokenOff(connection.server, error);
    }
    if (last || response.statusCode !== 401 || !(await connection.unauthorized(authorization, { signal })))
      return response;
    response.destroy();
  }
}

function sendOnce(server: URL, authorization: Authorization, exchange: Exchange): Promise<IncomingMessage> {
  const { method, path, body, idleTimeoutMs, signal } = exchange;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const isPlain = server.protocol === 'http:';
  const outgoing = (isPlain ? http : https).request({
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
    signal,
    // Also while it connects, of which setTimeout below knows nothing: a firewall drops packets without a word.
    timeout: idleTimeoutMs,
  });
  outgoing.setTimeout(idleTimeoutMs, () =>
    outgoing.destroy(new IdleTimeoutError(`${server.host} sent nothing for ${idleTimeoutMs} ms`)),
  );
  outgoing.once('response', resolve);
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

/** The server closed a kept-alive connection just as we wrote to it: nothing is wrong, and it saw no request. */
function isStaleSocket(error: unknown): boolean {
  const { code, reusedSocket } = error as { code?: string; reusedSocket?: boolean };
  return reusedSocket === true && (code === 'ECONNRESET' || code === 'EPIPE');
}

/** What a connection failed with, before the answer or within its body, as an error that names the server. */
export function brokenOff(server: URL, cause: unknown): ConnectionError | IdleTimeoutError {
  if (cause instanceof IdleTimeoutError) return cause;
  const known = tlsFailure(cause);
  if (known !== undefined) return new ConnectionError(`${server.host}: ${known}`);
  const { code, message } = cause as { code?: string; message?: string };
  return new ConnectionError(`${server.host}: ${message || code || 'the connection failed'}`, { cause });
}
