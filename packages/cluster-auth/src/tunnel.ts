import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Tunnel } from './agent.ts';
import { basic } from './credentials.ts';
import { authorityOf, hostOf, portOf, redacted } from './endpoint.ts';
import { ClusterAuthError, reasonOf } from './errors.ts';

/** How long a proxy may take, its own connection to the API server included. */
const TIMEOUT_MS = 30_000;

/**
 * A way through an HTTP proxy by CONNECT (RFC 9110, section 9.3.6): what the proxy carries is TLS that it can't
 * read.
 *
 * @param roots PEM that an https: proxy's own certificate is verified with, asked for per connection
 */
export function tunnelThrough(proxy: URL, roots?: () => Promise<string | undefined>): Tunnel {
  return async ({ host, port }, { signal }) => {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const ended = AbortSignal.any([signal, timeout]);
    const target = authorityOf(host, port);
    try {
      return await connectThrough(proxy, target, await roots?.(), ended);
    } catch (cause) {
      if (signal.aborted || cause instanceof ClusterAuthError) throw cause;
      const reason = timeout.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : reasonOf(cause);
      const message = `the proxy ${redacted(proxy)} opens no tunnel to ${target}: ${reason}`;
      throw new ClusterAuthError('CLUSTER_PROXY', message, { cause });
    }
  };
}

/** The header of a proxy whose URL has a user and a password. */
export function proxyAuthorization(proxy: URL): Record<string, string> {
  if (proxy.username === '' && proxy.password === '') return {};
  const value = basic(decodeURIComponent(proxy.username), decodeURIComponent(proxy.password));
  return { 'proxy-authorization': value };
}

async function connectThrough(proxy: URL, target: string, ca: string | undefined, ended: AbortSignal): Promise<Socket> {
  ended.throwIfAborted();
  const host = hostOf(proxy);
  const options = {
    method: 'CONNECT',
    host,
    port: portOf(proxy),
    path: target,
    headers: { host: target, ...proxyAuthorization(proxy) },
    agent: false,
  };
  // Node would take the server name from the `host` header, which is the target's here.
  const tls = { servername: isIP(host) === 0 ? host : '', rejectUnauthorized: true, ...(ca !== undefined && { ca }) };
  const request = proxy.protocol === 'https:' ? https.request({ ...options, ...tls }) : http.request(options);
  const onEnded = () => request.destroy(ended.reason);
  // Not the request's own `signal`, which would cut the tunnel later on, when its timeout comes.
  ended.addEventListener('abort', onEnded, { once: true });
  try {
    request.end();
    const [response, socket, head] = (await once(request, 'connect')) as [IncomingMessage, Socket, Buffer];
    if (response.statusCode !== 200) {
      socket.destroy();
      const message = `the proxy ${redacted(proxy)} opens no tunnel to ${target}: it answered ${response.statusCode}`;
      throw new ClusterAuthError('CLUSTER_PROXY', message);
    }
    if (head.length > 0) socket.unshift(head);
    return socket;
  } finally {
    ended.removeEventListener('abort', onEnded);
  }
}
