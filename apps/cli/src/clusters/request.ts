import type { ClientRequest, IncomingMessage } from 'node:http';
import https from 'node:https';
import type { TLSSocket } from 'node:tls';
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
  /** When its certificate expires. */
  readonly certificateUntilMs: number;
};

/** Reads a path. @throws {RequestError} as `ask` */
export const get = async (context: Context, path: string, limits: RequestLimits): Promise<string> =>
  (await ask(context, { path }, limits)).body;

/**
 * Sends a request to a context's API server, with all credentials and proxies that a kubeconfig may have.
 *
 * @throws {RequestError} unless the answer is 200, 201 or 202 within `timeoutMs`
 */
export async function ask(
  { kube, server, untilMs = Infinity }: Context,
  { path, body: sent, method = sent === undefined ? 'GET' : 'POST', contentType = 'application/json', accept }: Sent,
  { signal, timeoutMs }: RequestLimits,
): Promise<Answer> {
  const leftMs = Math.ceil(untilMs - performance.now());
  if (leftMs <= 0) throw new RequestError(TOO_LATE);
  const limit = AbortSignal.timeout(Math.min(timeoutMs, leftMs));
  const options: https.RequestOptions = { signal: AbortSignal.any([signal, limit]) };
  try {
    await kube.applyToHTTPSOptions(options);
  } catch (cause) {
    throw new RequestError(`no credentials: ${wordsOf(cause)}`, { cause });
  }
  const url = new URL(`${server.replace(/\/+$/, '')}${path}`);
  try {
    const request = https.request(url, { ...options, method });
    if (sent !== undefined) request.setHeader('content-type', contentType);
    if (accept !== undefined) request.setHeader('accept', accept);
    const answered = answerTo(request);
    request.end(sent && JSON.stringify(sent));
    const response = await answered;
    const certificate = (response.socket as TLSSocket).getPeerCertificate();
    const body = await bodyOf(response);
    const status = response.statusCode ?? 0;
    if (![200, 201, 202].includes(status)) throw new RequestError(messageIn(body) ?? `HTTP ${status}`, { status });
    return {
      body,
      dateMs: Date.parse(response.headers.date ?? ''),
      certificateUntilMs: Date.parse(certificate.valid_to),
    };
  } catch (cause) {
    if (cause instanceof RequestError) throw cause;
    signal.throwIfAborted();
    const why = leftMs < timeoutMs ? TOO_LATE : `no answer within ${timeoutMs / 1_000} s`;
    throw new RequestError(limit.aborted ? why : wordsOf(cause), { cause });
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

/** The errors of several addresses have no message of their own. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(wordsOf).join(', ');
  return error instanceof Error ? error.message || error.name : String(error);
}
