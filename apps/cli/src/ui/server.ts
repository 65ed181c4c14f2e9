import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { UsageError } from '../usage-error.ts';
import { safeJson } from './view.ts';

/** What a path answers. */
type Route = {
  readonly type: string;
  readonly body: (query: URLSearchParams) => Promise<string> | string;
};

/** By the path below the token; that of the page is ''. */
export type Routes = Readonly<Record<string, Route>>;

/** The page loads nothing from elsewhere, and sends no referrer, which would have the token. */
const headers = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

const LOOPBACK = '127.0.0.1';

/**
 * Serves routes on this machine only. Others can't read them: neither users, who don't know the token, nor pages of other
 * sites, whose names may lead here.
 *
 * @param port 0: a free one
 * @throws {UsageError} if the port is taken
 */
export async function serve(
  routes: Routes,
  { port, token }: { readonly port: number; readonly token: string },
): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => void answer(request, response));
  server.listen(port, LOOPBACK);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`the port ${port} can't be used (${error.code ?? error.message}): set --port to another one`);
  });
  const address = server.address();
  const host = `${LOOPBACK}:${typeof address === 'object' ? address?.port : ''}`;
  return { url: `http://${host}/${token}/`, server };

  async function answer({ method, url = '', headers: { host: called } }: IncomingMessage, response: ServerResponse) {
    const send = (status: number, type: string, body: string): void =>
      void response.writeHead(status, { ...headers, 'content-type': `${type}; charset=utf-8` }).end(body);
    if (called !== host) return send(403, 'text/plain', 'unknown host\n');
    if (method !== 'GET') return send(405, 'text/plain', 'only GET\n');
    const [, given = '', path = '', query] = /^\/([^/?]*)\/([^/?]*)(?:\?(.*))?$/.exec(url) ?? [];
    const route = isSame(given, token) && Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (route === undefined) return send(404, 'text/plain', 'not found\n');
    try {
      send(200, route.type, await route.body(new URLSearchParams(query)));
    } catch (error) {
      const isWrong = error instanceof UsageError || error instanceof RangeError;
      send(isWrong ? 400 : 500, 'application/json', safeJson({ error: (error as Error).message }));
    }
  }
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}
