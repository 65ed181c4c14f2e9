import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { TLSSocket } from 'node:tls';
import type { AgentRequestOptions, Authorization } from '@kube-semaphore/cluster-auth';
import { connectionOf } from './access.ts';
import type { Context } from './contexts.ts';

/** An API server didn't answer, or refused. */
export class RequestError extends Error {
  /** Undefined: there was no answer. */
  readonly status: number | undefined;

  constructor(message: string, { status, cause }: { status?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.status = status;
  }
}

/** More than any list of 500 Pods has, or the status of 10,000 peers. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Why a context isn't asked any more. */
const TOO_LATE = 'it took too long to say everything';

/** Limits of a request. */
export type RequestLimits = { readonly signal: AbortSignal; readonly timeoutMs: number };

/** A request. By default, one with a body is a POST. */
export type Sent = {
  readonly path: string;
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly body?: object | undefined;
  readonly contentType?: string;
  readonly accept?: string;
};

/** What an API server answered. */
export type Answer = {
  readonly body: string;
  /** Its clock, in whole seconds. */
  readonly dateMs: number;
  /** When its certificate expires; NaN without TLS. */
  readonly certificateUntilMs: number;
};

/** Reads a path. @throws {RequestError} as `ask` */
export const get = async (context: Context, path: string, limits: RequestLimits): Promise<string> =>
  (await ask(context, { path }, limits)).body;

/**
 * Sends a request to a context's API server, with all credentials and proxies that a kubeconfig may have.
 *
 * @throws {RequestError} unless the answer is 200, 201 or 202 within `timeoutMs` of the moment when it is connected
 */
export async function ask(context: Context, sent: Sent, limits: RequestLimits): Promise<Answer> {
  const leftMs = Math.ceil((context.untilMs ?? Infinity) - performance.now());
  if (leftMs <= 0) throw new RequestError(TOO_LATE);
  const late = new AbortController();
  const timer = leftMs < Infinity && setTimeout(() => late.abort(new RequestError(TOO_LATE)), leftMs);
  try {
    return await answered(context, sent, limits, late);
  } catch (cause) {
    if (cause instanceof RequestError) throw cause;
    limits.signal.throwIfAborted();
    throw late.signal.aborted ? late.signal.reason : new RequestError(wordsOf(cause), { cause });
  } finally {
    if (timer !== false) clearTimeout(timer);
  }
}

/** @param late aborted when the answer comes too late */
async function answered(context: Context, sent: Sent, limits: RequestLimits, late: AbortController): Promise<Answer> {
  const { path, body, method = body === undefined ? 'GET' : 'POST', contentType = 'application/json', accept } = sent;
  const { signal, timeoutMs } = limits;
  const ended = AbortSignal.any([signal, late.signal]);
  const { server, agent, headers } = await authorizationOf(context, { signal: ended });
  const options: AgentRequestOptions = { agent, method, headers, signal: ended, connectSignal: ended };
  const url = new URL(`${server.href.replace(/\/$/, '')}${path}`);
  const silent = new RequestError(`no answer within ${timeoutMs / 1_000} s`);
  const request = (url.protocol === 'http:' ? http : https).request(url, options);
  let timer: NodeJS.Timeout | undefined;
  let response: IncomingMessage | undefined;
  try {
    request.once('socket', () => (timer = setTimeout(() => late.abort(silent), timeoutMs)));
    const content = body && JSON.stringify(body);
    if (content !== undefined) {
      request.setHeader('content-type', contentType);
      // For a DELETE, Node.js says neither how long its body is nor where it ends: the server takes it for the next request.
      request.setHeader('content-length', Buffer.byteLength(content));
    }
    if (accept !== undefined) request.setHeader('accept', accept);
    const head = answerTo(request);
    request.end(content);
    response = await head;
    const { socket } = response;
    const until = socket instanceof TLSSocket ? socket.getPeerCertificate().valid_to : undefined;
    const text = await bodyOf(response);
    const status = response.statusCode ?? 0;
    if (![200, 201, 202].includes(status)) throw new RequestError(messageIn(text) ?? `HTTP ${status}`, { status });
    return {
      body: text,
      dateMs: Date.parse(response.headers.date ?? ''),
      certificateUntilMs: Date.parse(until ?? ''),
    };
  } catch (error) {
    if (ended.aborted || response !== undefined || !isStale(request, error)) throw error;
    return answered(context, sent, limits, late);
  } finally {
    clearTimeout(timer);
  }
}

/** The server closed a kept-alive connection as we wrote to it. That is normal, and it received no request. */
const isStale = ({ reusedSocket }: ClientRequest, error: unknown): boolean =>
  reusedSocket && ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');

async function authorizationOf(context: Context, { signal }: { signal: AbortSignal }): Promise<Authorization> {
  try {
    return await (await connectionOf(context)).authorize({ signal });
  } catch (cause) {
    signal.throwIfAborted();
    throw new RequestError(`no credentials: ${wordsOf(cause)}`, { cause });
  }
}

function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.once('response', resolve).on('error', reject);
  return promise;
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new RequestError(`the answer has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The message of a Status. */
function messageIn(body: string): string | undefined {
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    return typeof message === 'string' ? message : undefined;
  } catch {
    // The answer of a proxy is no JSON; its HTTP status says enough.
    return undefined;
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
