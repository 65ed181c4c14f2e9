import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import https from 'node:https';
import { type AgentRequestOptions, createAgent } from './agent.ts';
import type { Dependencies } from '../dependencies.ts';
import { dial } from './dial.ts';
import { hostOf, portOf, redacted } from './endpoint.ts';
import { Refusal } from '../errors.ts';
import { http } from './http.ts';
import { proxyFor } from '../proxy/environment.ts';
import { dialProxy } from '../proxy/dial-proxy.ts';
import { requestProxy } from '../proxy/http-connect.ts';
import { tunnelThrough } from '../proxy/tunnel.ts';
import { fixed } from '../credentials/rotating.ts';
import { openProxyRoots, openSystemRoots } from '../trust/system-roots.ts';

/** How long a server may take to answer once there is a connection, which has limits of its own. */
const TIMEOUT_MS = 10_000;

/** The roots of a distribution have a quarter of that. */
const MAX_BYTES = 1024 * 1024;

/** As Go's net/http. */
const MAX_REDIRECTS = 10;

type Request = {
  /** PEM that verifies the server. Default: the roots of this machine. */
  readonly ca?: string | undefined;
  /** Sent by POST. Default: a GET. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: a redirect is an error. */
  readonly follows?: 'same-host';
};

/** The answer to one request. `location` is where a redirect leads. */
type Answer = { readonly status: number; readonly location: string | undefined; readonly text: string };

/**
 * Gets a small text from a web server that isn't an API server, through the proxy of the environment. With `follows`, it
 * follows redirects to https: on the same host, without the user of the URL: another server must not choose whom we
 * trust.
 *
 * @throws an error for `reasonOf`; the lifetime's reason when that ends
 */
export async function fetchText(url: URL, request: Request, deps: Dependencies): Promise<string> {
  try {
    return await followed(url, request, deps);
  } catch (error) {
    deps.lifetime.throwIfAborted();
    throw error;
  }
}

async function followed(first: URL, request: Request, deps: Dependencies): Promise<string> {
  let url = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const { status, location, text } = await fetchOnce(url, request, deps);
    if (status === 200) return text;
    const isRedirect = location !== undefined && [301, 302, 303, 307, 308].includes(status);
    if (request.follows === undefined || !isRedirect) throw new Refusal(`it answered ${status}`);
    url = redirected(url, location);
  }
  throw new Refusal(`it redirects more than ${MAX_REDIRECTS} times`);
}

/** @throws {Refusal} without the URL's user and query */
function redirected(from: URL, location: string): URL {
  const to = URL.parse(location, from.href);
  if (to === null) throw new Refusal('it redirects to an invalid URL');
  if (to.protocol !== 'https:' || to.hostname !== from.hostname) {
    throw new Refusal(`it redirects to ${redacted(to)}; only https: on the same host is allowed`);
  }
  // A relative URL inherits them from `from`.
  to.username = '';
  to.password = '';
  return to;
}

async function fetchOnce(url: URL, request: Request, deps: Dependencies): Promise<Answer> {
  const { body, headers = {} } = request;
  const options = { method: body === undefined ? 'GET' : 'POST', headers, signal: deps.lifetime };
  const proxy = proxyFor(url, deps.env);
  if (url.protocol === 'http:') return answerTo(await plainRequest(url, options, proxy, deps), body);

  const ca = request.ca ?? (await (await openSystemRoots(deps)).current());
  const agent = createAgent({
    ca,
    tunnel: proxy && tunnelThrough(proxy, await openProxyRoots(fixed(undefined), deps)),
  });
  const own: AgentRequestOptions = { ...options, agent, connectSignal: deps.lifetime };
  try {
    return await answerTo(https.request(url, own), body);
  } finally {
    agent.destroy();
  }
}

type PlainOptions = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
};

/** A request without TLS. An HTTP proxy gets the whole URL (RFC 9112, section 3.2.2): few proxies allow CONNECT for it. */
async function plainRequest(
  url: URL,
  options: PlainOptions,
  proxy: URL | undefined,
  deps: Dependencies,
): Promise<ClientRequest> {
  const { signal } = options;
  if (proxy === undefined || proxy.protocol === 'socks5:') {
    const open = proxy === undefined ? dial : tunnelThrough(proxy);
    const socket = await open({ host: hostOf(url), port: portOf(url) }, { signal });
    // The SOCKS library leaves the socket paused.
    return http.request(url, { ...options, createConnection: () => socket }).once('socket', (its) => its.resume());
  }
  const roots = proxy.protocol === 'https:' ? await openProxyRoots(fixed(undefined), deps) : undefined;
  const socket = await dialProxy(proxy, { signal, roots });
  const path = `${url.origin}${url.pathname}${url.search}`;
  return requestProxy(proxy, { ...options, path, headers: { ...options.headers, host: url.host } }, socket);
}

async function answerTo(request: ClientRequest, body: string | undefined): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  let waiting: ClientRequest | IncomingMessage = request;
  const end = (): void => void waiting.destroy(new Refusal(`no answer within ${TIMEOUT_MS / 1000} s`));
  request.once('socket', () => (timer = setTimeout(end, TIMEOUT_MS)));
  try {
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    // From here on the response reports errors; without a listener, one of the request would end the process.
    request.on('error', () => {});
    waiting = response;
    return await answerIn(response);
  } finally {
    clearTimeout(timer);
    waiting.destroy();
  }
}

async function answerIn(response: IncomingMessage): Promise<Answer> {
  const { statusCode: status = 0, headers } = response;
  if (status !== 200) return { status, location: headers.location, text: '' };
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BYTES) throw new Refusal(`it answered more than ${MAX_BYTES} bytes`);
  }
  return { status, location: undefined, text: Buffer.concat(chunks).toString('utf8') };
}
