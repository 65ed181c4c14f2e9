import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { basic } from '../credentials/credentials.ts';
import type { Target } from '../transport/dial.ts';
import { authorityOf, loginOf } from '../transport/endpoint.ts';
import { Refusal } from '../errors.ts';
import { http } from '../transport/http.ts';

type ProxyRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

/**
 * A request to a proxy, with the user and the password in its URL.
 *
 * @param socket leads to the proxy
 */
export function requestProxy(proxy: URL, request: ProxyRequest, socket: Socket): ClientRequest {
  const { username = '', password = '' } = loginOf(proxy) ?? {};
  const isAnonymous = username === '' && password === '';
  const authorization = isAnonymous ? {} : { 'proxy-authorization': basic(username, password) };
  return http.request({
    ...request,
    headers: { ...request.headers, ...authorization },
    createConnection: () => socket,
  });
}

/**
 * A connection to the target through an HTTP proxy, by CONNECT (RFC 9110, section 9.3.6).
 *
 * @param toProxy leads to the proxy, and is closed if that refuses
 * @param ended aborts the attempt, and has no effect on an established connection
 */
export async function connectThroughHttp(
  proxy: URL,
  toProxy: Socket,
  target: Target,
  ended: AbortSignal,
): Promise<Socket> {
  const authority = authorityOf(target.host, target.port);
  const request = requestProxy(proxy, { method: 'CONNECT', path: authority, headers: { host: authority } }, toProxy);
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
