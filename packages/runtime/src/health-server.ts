import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from './logger.ts';

/**
 * Not imported: an ESM import reads every export of node:http, and those of WebSocket load undici when they are read,
 * which costs 8 MB (Node 24.21).
 */
const http = process.getBuiltinModule('node:http');

/** Whether a probe passes, and if not, what is wrong: a sentence for whoever reads the events of the pod. */
export type Health = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** What a scrape gets; prom-client's Registry is one. */
type MetricsSource = { readonly contentType: string; metrics(): Promise<string> };

type HealthServerOptions = {
  /** An address or a name; empty listens on every address of the machine. */
  readonly host: string;
  /** 0 lets the kernel pick one. */
  readonly port: number;
  readonly registry: MetricsSource;
  readonly isLive: () => Health;
  readonly isReady: () => Health;
  readonly log: Pick<Logger, 'error'>;
  /** A client that is slow to ask, slow to read the answer, or keeps an idle connection is cut off after so long. */
  readonly slowMs?: number;
};

/** A running server. `close` ends every connection at once, and can be called again. */
type HealthServer = { readonly port: number; readonly close: () => Promise<void> };

/**
 * Serves `GET /healthz`, `/readyz` and `/metrics` as plain text: 200, or 503 with what is wrong. HEAD works too,
 * other methods get 405, other paths 404.
 *
 * @returns once the port is open, with the one that the kernel picked
 * @throws if the address can't be listened on, with a message that names the flag
 */
export async function startHealthServer({
  host,
  port,
  slowMs = 10_000,
  ...answers
}: HealthServerOptions): Promise<HealthServer> {
  const server = http.createServer(
    {
      headersTimeout: slowMs,
      requestTimeout: slowMs,
      keepAliveTimeout: slowMs,
      connectionsCheckingInterval: slowMs,
      maxHeaderSize: 8 * 1024,
    },
    listenerFor(answers),
  );
  server.timeout = slowMs;
  await listen(server, { host, port });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

type Answers = Omit<HealthServerOptions, 'host' | 'port' | 'slowMs'>;
type Answer = { readonly status: number; readonly type: string; readonly body: string };

function listenerFor(answers: Answers): RequestListener {
  return (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    void answer(path, { method: request.method, answers })
      .catch((error: unknown): Answer => {
        answers.log.error({ error, path }, 'health request failed');
        return plain(500, 'internal error');
      })
      .then(({ status, type, body }) => {
        const allow = status === 405 ? { allow: 'GET, HEAD' } : {};
        response.writeHead(status, { 'content-type': type, ...allow }).end(body);
      });
  };
}

async function answer(
  path: string,
  { method, answers }: { method: string | undefined; answers: Answers },
): Promise<Answer> {
  if (!['/healthz', '/readyz', '/metrics'].includes(path)) return plain(404, 'not found');
  if (method !== 'GET' && method !== 'HEAD') return plain(405, 'only GET and HEAD');
  if (path === '/metrics') {
    return { status: 200, type: answers.registry.contentType, body: await answers.registry.metrics() };
  }
  const health = path === '/healthz' ? answers.isLive() : answers.isReady();
  return health.ok ? plain(200, 'ok') : plain(503, health.reason);
}

function plain(status: number, text: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body: `${text}\n` };
}

async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  // Without a host Node.js takes IPv6 and IPv4 both, and IPv4 alone where there is no IPv6.
  server.listen(host === '' ? { port } : { host, port }, resolve);
  try {
    await promise;
  } catch (cause) {
    const inUse = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
    const why = inUse ? 'is in use by another process' : "can't be listened on";
    throw new Error(`-listen-address ${host.includes(':') ? `[${host}]` : host}:${port} ${why}`, { cause });
  }
  server.off('error', reject);
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // The callback's error says that the server was closed already, which is what was asked for.
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}
