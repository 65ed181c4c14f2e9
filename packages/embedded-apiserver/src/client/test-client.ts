import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Certificate } from './certificates.ts';
import type { Answer, KubeObject, TestClient } from '../test-cluster.ts';

/** The timeout of a request. The test client never waits for an event. */
const TIMEOUT_MS = 300_000;

/** A kube-apiserver ends a connection that was idle for 90 s: a request that is sent just then fails. */
const IDLE_MS = 45_000;

/** A client's server and credentials. Without `token` and `certificate` it is anonymous. */
export type TestClientOptions = {
  readonly url: string;
  readonly agent: Agent;
  readonly token?: string;
  readonly certificate?: Certificate;
};

/**
 * Connections for test clients. They trust only `caPem`, stay open between requests, and while idle don't keep
 * the process running. `destroy()` closes them, and later requests open new ones, so call it whenever the
 * server goes away.
 */
export function createAgent(caPem: string): Agent {
  return new TestAgent({ keepAlive: true, timeout: IDLE_MS, ca: caPem });
}

/**
 * Once an answer has arrived completely, Node.js removes its error listener from the socket, even if the answer isn't read yet.
 * A request that is aborted then destroys the socket with an error that no listener gets. The request reports it anyway.
 */
class TestAgent extends Agent {
  override createConnection(
    ...connection: Parameters<Agent['createConnection']>
  ): ReturnType<Agent['createConnection']> {
    return super.createConnection(...connection)?.on('error', () => {});
  }
}

/** The {@link TestClient} for API servers of either kind. */
export function createTestClient({ url, agent, token, certificate }: TestClientOptions): TestClient {
  // The agent keeps connections with different certificates apart.
  const identity = certificate && { cert: certificate.certPem, key: certificate.keyPem };
  const request: TestClient['request'] = async (method, path, body, { contentType, headers } = {}) => {
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const usual = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await send(`${url}${path}`, payload, {
      ...identity,
      agent,
      method,
      headers: {
        accept: 'application/json',
        'user-agent': 'kube-semaphore-test',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(payload && { 'content-type': contentType ?? usual, 'content-length': payload.length }),
        ...headers,
      },
    });
    return { status: response.statusCode ?? 0, body: decode(response, await text(response)) };
  };

  const must = async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown, allowed?: number) => {
    const answer = await request(method, path, body);
    if (answer.status < 300 || answer.status === allowed) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${String(answer.body['message'])}`);
  };

  return {
    request,
    get: (path) => must('GET', path),
    list: async (path) => (await must('GET', path)).items ?? [],
    create: (path, object) => must('POST', path, object),
    delete: async (path) => {
      await must('DELETE', path, undefined, 404);
    },
  };
}

function send(url: string, payload: Buffer | undefined, options: RequestOptions): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = httpsRequest(url, { ...options, signal: AbortSignal.timeout(TIMEOUT_MS) }, resolve);
  request.on('error', (cause) => reject(new Error(`${options.method} ${url}: ${cause.message}`, { cause })));
  request.end(payload);
  return promise;
}

/** A body that isn't JSON (a health check, the text of a 429) becomes the message of a Status. */
function decode(response: IncomingMessage, body: string): Answer['body'] {
  if (response.headers['content-type']?.startsWith('application/json')) return JSON.parse(body) as KubeObject;
  return { apiVersion: 'v1', kind: 'Status', metadata: { name: '' }, message: body.trim() };
}
