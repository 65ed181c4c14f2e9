import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { createAgent } from './agent.ts';
import type { Dependencies } from './dependencies.ts';
import { hostOf, portOf, redacted } from './endpoint.ts';
import { ClusterAuthError, reasonOf } from './errors.ts';
import { readCertificates } from './pem.ts';
import { proxyFor } from './proxy-environment.ts';
import { type Rotating, singleFlight } from './rotating.ts';
import { openSystemRoots } from './system-roots.ts';
import { proxyAuthorization, tunnelThrough } from './tunnel.ts';

/** A CA that verifies nothing any more is fetched again this often, at most: its server may be small. */
const RENEW_INTERVAL_MS = 60_000;

const TIMEOUT_MS = 10_000;

/** The roots of a whole distribution have a quarter of that. */
const MAX_BYTES = 1024 * 1024;

/** A CA at an http: or https: URL: fetched when it is first needed, and again when it stops verifying. */
export function fetchedCa(url: URL, deps: Dependencies): Rotating<string> {
  const { clock, log } = deps;
  let value: string | undefined;
  let fetchedMs = 0;
  const fetch = singleFlight(async () => {
    fetchedMs = clock.monotonicMs();
    value = readCertificates({ text: await download(url, deps), where: redacted(url) });
    return value;
  });
  return {
    current: async () => value ?? fetch(),
    async renew() {
      if (clock.monotonicMs() - fetchedMs < RENEW_INTERVAL_MS) return;
      const before = value;
      try {
        if ((await fetch()) !== before) log.info({ url: redacted(url) }, 'CA replaced');
      } catch (error) {
        log.warn({ url: redacted(url), err: error }, 'CA can not be fetched again, the last one stays');
      }
    },
  };
}

/** The text at a URL. Redirects are not followed: they would let a server choose whom we trust. */
async function download(url: URL, deps: Dependencies): Promise<string> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await (url.protocol === 'https:' ? downloadHttps : downloadHttp)(
      url,
      AbortSignal.any([timeout, deps.lifetime]),
      deps,
    );
  } catch (cause) {
    if (deps.lifetime.aborted || cause instanceof ClusterAuthError) throw cause;
    const reason = timeout.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : reasonOf(cause);
    throw new ClusterAuthError('CLUSTER_CA_FETCH', `the CA can't be fetched from ${redacted(url)}: ${reason}`, { cause });
  }
}

async function downloadHttps(url: URL, signal: AbortSignal, deps: Dependencies): Promise<string> {
  const proxy = proxyFor(url, deps.env);
  const roots = await openSystemRoots(deps);
  const agent = createAgent({
    ca: await roots.current(),
    keyPair: undefined,
    tlsServerName: undefined,
    tunnel: proxy && tunnelThrough(proxy, () => roots.current()),
  });
  try {
    return await bodyOf(https.get(url, { agent, signal }), url);
  } finally {
    agent.destroy();
  }
}

async function downloadHttp(url: URL, signal: AbortSignal, { env }: Dependencies): Promise<string> {
  const proxy = proxyFor(url, env);
  if (proxy === undefined) return bodyOf(http.get(url, { agent: false, signal }), url);
  const request = (proxy.protocol === 'https:' ? https : http).get({
    host: hostOf(proxy),
    port: portOf(proxy),
    path: url.href,
    headers: { host: url.host, ...proxyAuthorization(proxy) },
    agent: false,
    signal,
  });
  return bodyOf(request, url);
}

async function bodyOf(request: http.ClientRequest, url: URL): Promise<string> {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // From here on the response reports what goes wrong, and an error that nobody hears ends the process.
  request.on('error', () => {});
  try {
    if (response.statusCode !== 200) {
      const message = `the CA can't be fetched from ${redacted(url)}: it answered ${response.statusCode}`;
      throw new ClusterAuthError('CLUSTER_CA_FETCH', message);
    }
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) {
        const message = `the CA can't be fetched from ${redacted(url)}: it answered more than ${MAX_BYTES} bytes`;
        throw new ClusterAuthError('CLUSTER_CA_FETCH', message);
      }
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    response.destroy();
  }
}
