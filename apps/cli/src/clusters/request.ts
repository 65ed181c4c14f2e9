import type { ClientRequest, IncomingMessage } from 'node:http';
import https from 'node:https';
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

/**
 * Requests a path of a context's API server, with all credentials and proxies that a kubeconfig may have.
 *
 * @throws {RequestError} unless the answer is 200 within `timeoutMs`
 */
export async function get(
  { kube, server }: Context,
  path: string,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<string> {
  const limit = AbortSignal.timeout(timeoutMs);
  const options: https.RequestOptions = { signal: AbortSignal.any([signal, limit]) };
  try {
    await kube.applyToHTTPSOptions(options);
  } catch (cause) {
    throw new RequestError(`no credentials: ${wordsOf(cause)}`, { cause });
  }
  const url = new URL(`${server.replace(/\/+$/, '')}${path}`);
  try {
    const response = await answerTo(https.get(url, options));
    const body = await bodyOf(response);
    const status = response.statusCode ?? 0;
    if (status !== 200) throw new RequestError(messageIn(body) ?? `HTTP ${status}`, { status });
    return body;
  } catch (cause) {
    if (cause instanceof RequestError) throw cause;
    signal.throwIfAborted();
    throw new RequestError(limit.aborted ? `no answer within ${timeoutMs / 1_000} s` : wordsOf(cause), { cause });
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
