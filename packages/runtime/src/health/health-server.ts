import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { boundConnections } from './bounded-connections.ts';
import type { Logger } from '../log/logger.ts';
import { shared } from '../shared.ts';

/**
 * Not imported: an ESM import reads every export of node:http, and reading those of WebSocket loads undici, which costs
 * 8 MB (Node 24.21).
 */
const http = process.getBuiltinModule('node:http');

/** Whether a probe passes, or why not: a sentence for the events of the pod. */
export type Health = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Metrics in the exposition format, such as prom-client's Registry. */
type MetricsSource = { readonly contentType: string; metrics(): Promise<string> };

type HealthServerOptions = {
  /** An address or a name; empty: every address of the machine. */
  readonly host: string;
  /** 0 lets the kernel pick one. */
  readonly port: number;
  readonly registry: MetricsSource;
  readonly isLive: () => Health;
  readonly isReady: () => Health;
  /** The JSON of `/status`. */
  readonly status: () => Promise<string> | string;
  readonly log: Pick<Logger, 'error'>;
  /** Closes the connection of a client that is slower to ask, or to read the answer. */
  readonly slowMs?: number;
  /** A clock that never steps back, in milliseconds. */
  readonly nowMs?: () => number;
};

/**
 * Each may hold an answer that its client doesn't read: with 1,000 peers, 32 of them hold 20 MB. A kubelet and two
 * Prometheus need three.
 */
export const MAX_CONNECTIONS = 32;

/** More frequent requests share one collection of metrics, and one status, as each may start processes. */
const COLLECT_INTERVAL_MS = 1_000;

/** A running server. `close` ends every connection at once, and can be called twice. */
type HealthServer = { readonly port: number; readonly close: () => Promise<void> };

/**
 * Serves `GET /healthz`, `/readyz` and `/metrics` as plain text: 200, or 503 with the reason; and `/status` as JSON. HEAD
 * works, too; other methods get 405, other paths 404.
 *
 * Every client that reaches the port may ask, and must not delay probes. So metrics and status are collected once a second at
 * most, a connection has one request, and a new connection closes an old one if there are too many.
 *
 * @returns when the port is open, with the one that the kernel picked
 * @throws if the server can't listen, with a message that names the flag
 */
export async function startHealthServer({
  host,
  port,
  slowMs = 10_000,
  ...sources
}: HealthServerOptions): Promise<HealthServer> {
  const server = http.createServer(
    {
      headersTimeout: slowMs,
      requestTimeout: slowMs,
      connectionsCheckingInterval: slowMs,
      maxHeaderSize: 8 * 1024,
    },
    listenerFor(pagesOf(sources)),
  );
  server.timeout = slowMs;
  // A kubelet closes its connections itself, and a Prometheus asks less often than the timeout of idle ones.
  server.maxRequestsPerSocket = 1;
  server.on('dropRequest', (_request, socket) => socket.destroy());
  boundConnections(server, MAX_CONNECTIONS);
  await listen(server, { host, port });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

type Answer = { readonly status: number; readonly type: string; readonly body: Buffer };
type Page = () => Promise<Answer>;
type Sources = Omit<HealthServerOptions, 'host' | 'port' | 'slowMs'>;

/** The page of each path. The promises don't reject. */
function pagesOf({
  registry,
  isLive,
  isReady,
  status,
  log,
  nowMs = () => performance.now(),
}: Sources): ReadonlyMap<string, Page> {
  const page = (path: string, answer: () => Answer | Promise<Answer>): [string, Page] => {
    const guarded = async (): Promise<Answer> => {
      try {
        return await answer();
      } catch (error) {
        log.error({ error, path }, 'health request failed');
        return plain(500, 'internal error');
      }
    };
    return [path, guarded];
  };
  /** All answers of a second share these bytes; each would have a copy of a text. */
  const collected = (path: string, type: string, collect: () => Promise<string> | string): [string, Page] => {
    const [, guarded] = page(path, async () => ({ status: 200, type, body: Buffer.from(await collect()) }));
    return [path, shared(guarded, { forMs: COLLECT_INTERVAL_MS, nowMs })];
  };
  return new Map([
    page('/healthz', () => probe(isLive())),
    page('/readyz', () => probe(isReady())),
    collected('/metrics', registry.contentType, () => registry.metrics()),
    collected('/status', 'application/json', status),
  ]);
}

function listenerFor(pages: ReadonlyMap<string, Page>): RequestListener {
  return (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    void answer(pages.get(path), request.method).then(({ status, type, body }) => {
      const allow = status === 405 ? { allow: 'GET, HEAD' } : {};
      const headers = { 'content-type': type, 'content-length': body.length, connection: 'close', ...allow };
      response.writeHead(status, headers).end(body);
    });
  };
}

async function answer(page: Page | undefined, method: string | undefined): Promise<Answer> {
  if (page === undefined) return plain(404, 'not found');
  if (method !== 'GET' && method !== 'HEAD') return plain(405, 'only GET and HEAD');
  return page();
}

function probe(health: Health): Answer {
  return health.ok ? plain(200, 'ok') : plain(503, health.reason);
}

function plain(status: number, text: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body: Buffer.from(`${text}\n`) };
}

async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  // Without a host, Node.js listens on IPv6 and IPv4, or only on IPv4 if there is no IPv6.
  server.listen(host === '' ? { port } : { host, port }, resolve);
  try {
    await promise;
  } catch (cause) {
    const inUse = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
    const why = inUse ? 'is in use by another process' : 'is not available';
    throw new Error(`-listen-address ${host.includes(':') ? `[${host}]` : host}:${port} ${why}`, { cause });
  }
  server.off('error', reject);
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // The callback's error means that the server is closed already.
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}
