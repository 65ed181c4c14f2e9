import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Target } from '../agent.ts';
import { basic } from '../credentials.ts';
import { authorityOf, hostOf, loginOf, portOf } from '../endpoint.ts';
import { Refusal } from '../errors.ts';
import { http } from '../http.ts';

/** The header for a proxy, if its URL has a user or a password. */
export function proxyAuthorization(proxy: URL): Record<string, string> {
  const { username = '', password = '' } = loginOf(proxy) ?? {};
  return username === '' && password === '' ? {} : { 'proxy-authorization': basic(username, password) };
}

/**
 * A connection to the target through an HTTP proxy, by CONNECT (RFC 9110, section 9.3.6).
 *
 * @param ended aborts the attempt, and has no effect on an established connection
 * @param ca PEM that verifies an https: proxy
 */
export async function connectThroughHttp(
  proxy: URL,
  target: Target,
  ended: AbortSignal,
  ca: string | undefined,
): Promise<Socket> {
  ended.throwIfAborted();
  const host = hostOf(proxy);
  const authority = authorityOf(target.host, target.port);
  const options = {
    method: 'CONNECT',
    host,
    port: portOf(proxy),
    path: authority,
    headers: { host: authority, ...proxyAuthorization(proxy) },
    agent: false,
  };
  // Node.js would take the server name from the `host` header, which is the target's here.
  const tls = {
    ca,
    servername: isIP(host) === 0 ? host : '',
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  } as const;
  const request = proxy.protocol === 'https:' ? https.request({ ...options, ...tls }) : http.request(options);
  const onEnded = () => request.destroy(ended.reason);
  // Not the request's own `signal`: its timeout would cut the connection later.
  ended.addEventListener('abort', onEnded, { once: true });
  try {
    request.end();
    const [response, socket, head] = (await once(request, 'connect')) as [IncomingMessage, Socket, Buffer];
    if (response.statusCode !== 200) {
      socket.destroy();
      throw new Refusal(`it answered ${response.statusCode}`);
    }
    if (head.length > 0) socket.unshift(head);
    return socket;
  } finally {
    ended.removeEventListener('abort', onEnded);
  }
}
