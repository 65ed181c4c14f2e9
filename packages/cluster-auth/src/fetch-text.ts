import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import https from 'node:https';
import { createAgent } from './agent.ts';
import type { Dependencies } from './dependencies.ts';
import { Refusal } from './errors.ts';
import { http } from './http.ts';
import { proxyFor } from './proxy/environment.ts';
import { tunnelThrough } from './proxy/tunnel.ts';
import { fixed } from './rotating.ts';
import { openProxyRoots, openSystemRoots } from './trust/system-roots.ts';

const TIMEOUT_MS = 10_000;

/** The roots of a whole distribution have a quarter of that. */
const MAX_BYTES = 1024 * 1024;

type Request = {
  /** PEM to verify the server with; by default the roots of this machine. */
  readonly ca?: string | undefined;
  /** Sent by POST. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * Gets a small text from a web server that is no API server, through the proxy of the environment. Redirects are not
 * followed: they would let a server choose whom we trust.
 *
 * @throws what `reasonOf` has words for; the lifetime's reason when that ends
 */
export async function fetchText(url: URL, request: Request, deps: Dependencies): Promise<string> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await fetchWithin(url, request, AbortSignal.any([timeout, deps.lifetime]), deps);
  } catch (error) {
    deps.lifetime.throwIfAborted();
    throw timeout.aborted ? new Refusal(`no answer within ${TIMEOUT_MS / 1000} s`) : error;
  }
}

async function fetchWithin(url: URL, request: Request, signal: AbortSignal, deps: Dependencies): Promise<string> {
  const { body, headers = {} } = request;
  const options = { method: body === undefined ? 'GET' : 'POST', headers, signal };
  if (url.protocol === 'http:') return textOf(http.request(url, { ...options, agent: false }), body);

  const proxy = proxyFor(url, deps.env);
  const ca = request.ca ?? (await (await openSystemRoots(deps)).current());
  const agent = createAgent({
    ca,
    tunnel: proxy && tunnelThrough(proxy, await openProxyRoots(fixed(undefined), deps)),
  });
  try {
    return await textOf(https.request(url, { ...options, agent }), body);
  } finally {
    agent.destroy();
  }
}

async function textOf(request: ClientRequest, body: string | undefined): Promise<string> {
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // From here on the response reports what goes wrong, and an error that nobody hears ends the process.
  request.on('error', () => {});
  try {
    if (response.statusCode !== 200) throw new Refusal(`it answered ${response.statusCode}`);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) throw new Refusal(`it answered more than ${MAX_BYTES} bytes`);
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    response.destroy();
  }
}
