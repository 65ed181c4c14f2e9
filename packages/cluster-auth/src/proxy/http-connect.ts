import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Target } from '../agent.ts';
import { basic } from '../credentials.ts';
import { authorityOf, hostOf, loginOf, portOf } from '../endpoint.ts';
import { Refusal } from '../errors.ts';
import { http } from '../http.ts';

type ProxyRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

/**
 * A request to a proxy, with the user and the password in its URL.
 *
 * @param ca PEM that verifies an https: proxy
 */
export function requestProxy(proxy: URL, request: ProxyRequest, ca: string | undefined): ClientRequest {
  const { username = '', password = '' } = loginOf(proxy) ?? {};
  const isAnonymous = username === '' && password === '';
  const authorization = isAnonymous ? {} : { 'proxy-authorization': basic(username, password) };
  const host = hostOf(proxy);
  const headers = { ...request.headers, ...authorization };
  const options = { ...request, headers, host, port: portOf(proxy), agent: false };
  if (proxy.protocol !== 'https:') return http.request(options);
  // Node.js would take the server name from the `host` header, which is the target's here.
  const servername = isIP(host) === 0 ? host : '';
  return https.request({ ...options, ca, servername, rejectUnauthorized: true, minVersion: 'TLSv1.2' });
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
  const authority = authorityOf(target.host, target.port);
  const request = requestProxy(proxy, { method: 'CONNECT', path: authority, headers: { host: authority } }, ca);
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
