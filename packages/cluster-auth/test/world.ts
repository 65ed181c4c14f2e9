import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Secrets } from '@kube-semaphore/text';
import { onTestFinished } from 'vitest';
import type { ConnectOptions } from '../src/connect.ts';
import {
  type Authorization,
  type ClusterReference,
  connect,
  type Connection,
  type ContextReference,
} from '../src/index.ts';

/** A clock that a test advances. */
export class FakeClock {
  #nowMs = 100_000;
  monotonicMs = () => this.#nowMs;
  epochMs = () => Date.UTC(2026, 0, 1) + this.#nowMs;

  advance(ms: number): void {
    this.#nowMs += ms;
  }
}

/** Records log lines as `level: message { fields }`, with errors in full. */
export class Recorder {
  readonly lines: string[] = [];
  info = (fields: object, message: string) => this.#add('info', message, fields);
  warn = (fields: object, message: string) => this.#add('warn', message, fields);

  #add(level: string, message: string, fields: object): void {
    this.lines.push(`${level}: ${message} ${inspect(fields, { depth: null, breakLength: Infinity })}`);
  }
}

/** A folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'cluster-auth-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** Writes a kubeconfig whose current context has this cluster and this user, and returns its path. */
export async function writeConfig(dir: string, cluster: object, user: object): Promise<string> {
  const path = join(dir, 'kubeconfig');
  await writeFile(path, configOf(cluster, user));
  return path;
}

/** The text of a kubeconfig whose current context has this cluster and this user. */
export const configOf = (cluster: object, user: object): string =>
  JSON.stringify({
    clusters: [{ name: 'east', cluster }],
    users: [{ name: 'jane', user }],
    contexts: [{ name: 'main', context: { cluster: 'east', user: 'jane' } }],
    'current-context': 'main',
  });

/** A connection with its clock, its log and its secrets. It is closed after the test. */
export async function connected(
  reference: ClusterReference | ContextReference,
  {
    env = {},
    serviceAccountDir = '/nonexistent',
    ...others
  }: Partial<Pick<ConnectOptions, 'env' | 'serviceAccountDir' | 'confirmServer'>> = {},
): Promise<{ connection: Connection; clock: FakeClock; log: Recorder; secrets: Secrets }> {
  const clock = new FakeClock();
  const log = new Recorder();
  const secrets = new Secrets();
  const connection = await connect(reference, { env, log, clock, secrets, serviceAccountDir, ...others });
  onTestFinished(() => connection.close());
  return { connection, clock, log, secrets };
}

/** Sends one GET and reads the answer. */
async function sendOnce({ server, agent, headers }: Authorization, path = '/'): Promise<number> {
  const response = await open(server, { agent, headers }, path);
  response.resume();
  await once(response, 'end');
  return response.statusCode ?? 0;
}

/** Sends one GET, and returns the answer with its body unread. Replaces a kept-alive socket that the server closed. */
export async function open(
  server: URL,
  { agent, headers }: Pick<Authorization, 'agent' | 'headers'>,
  path: string,
): Promise<IncomingMessage> {
  const request = https.get(new URL(path, server), { agent, headers });
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  } catch (error) {
    if (request.reusedSocket) return open(server, { agent, headers }, path);
    throw error;
  }
}

/** Sends a GET like kube-client: once more if the connection says that a retry could help. */
export async function send(connection: Connection, path = '/'): Promise<number> {
  const { signal } = new AbortController();
  const first = await connection.authorize({ signal });
  let status: number;
  try {
    status = await sendOnce(first, path);
    if (status !== 401 || !(await connection.unauthorized(first, { signal }))) return status;
  } catch (error) {
    if (!(await connection.connectionFailed(error, first, { signal }))) throw error;
  }
  return sendOnce(await connection.authorize({ signal }), path);
}
