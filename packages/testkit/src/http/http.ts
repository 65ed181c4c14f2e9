import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { type Agent, request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { createAgent, type TestCluster } from '@kube-semaphore/embedded-apiserver';

/** What the requests of a suite share. */
export type Endpoint = { readonly url: string; readonly agent: Agent; readonly token: string };

/** A request's options. A text `body` is sent unchanged, any other as JSON. */
export type Asked = {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the endpoint's token. Null for none. */
  readonly token?: string | null;
};

/** A complete answer. */
export type Reply = { readonly status: number; readonly contentType: string; readonly body: Buffer };

export async function endpointOf(cluster: TestCluster, token: string): Promise<Endpoint> {
  return { url: cluster.url, agent: createAgent(await readFile(cluster.caFile, 'utf8')), token };
}

/** Sends a request, and resolves when the answer begins. */
export async function open(
  endpoint: Endpoint,
  method: string,
  path: string,
  asked: Asked = {},
): Promise<IncomingMessage> {
  const { token = endpoint.token, body, headers = {} } = asked;
  const payload = body === undefined ? undefined : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options = {
    method,
    agent: endpoint.agent,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(payload && { 'content-length': payload.length, 'content-type': 'application/json' }),
      ...headers,
    },
  };
  httpsRequest(`${endpoint.url}${path}`, options, resolve).on('error', reject).end(payload);
  return promise;
}

export async function send(endpoint: Endpoint, method: string, path: string, asked?: Asked): Promise<Reply> {
  const response = await open(endpoint, method, path, asked);
  const contentType = response.headers['content-type'] ?? '';
  return { status: response.statusCode ?? 0, contentType, body: await buffer(response) };
}
