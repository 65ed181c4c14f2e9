import type { IncomingMessage } from 'node:http';
import { parseJson, type Status, statusFromJson, statusFromProtobuf } from '@kube-semaphore/kube-objects';
import { BodyTooLargeError, KubeApiError, retryAfterMsOf } from './errors.ts';
import { connectionErrorOf } from './transport.ts';

const MAX_ERROR_BYTES = 256 * 1024;
/** Servers send a kilobyte or more at a time. A chunk takes hundreds of bytes of memory, however short it is. */
const MAX_CHUNKS = 65_536;

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** Whether a response's body is protobuf. Any other body is parsed as JSON. */
export const isProtobuf = (response: IncomingMessage): boolean =>
  response.headers['content-type']?.startsWith(PROTOBUF) === true;

/**
 * Reads a whole body.
 *
 * @throws BodyTooLargeError as soon as it is larger than `maxBytes`, or has too many chunks; ConnectionError; IdleTimeoutError
 */
export function readBody(response: IncomingMessage, maxBytes: number, server: URL): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const fail = (error: unknown): void =>
    reject(error instanceof BodyTooLargeError ? error : connectionErrorOf(server, error));
  // Not `for await`: its iterator costs more than most bodies.
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) response.destroy(new BodyTooLargeError(`the answer is larger than ${maxBytes} bytes`));
    else if (chunks.push(chunk) > MAX_CHUNKS)
      response.destroy(new BodyTooLargeError(`the answer has more than ${MAX_CHUNKS} chunks`));
  });
  const lost = (): void => fail(response.errored ?? new Error('the connection was lost'));
  response.once('end', () => {
    // Otherwise each complete answer would make two errors.
    response.off('close', lost);
    resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes));
  });
  response.once('error', fail);
  response.once('close', lost);
  // What happened before this call is no event any more.
  if (response.closed || response.readableEnded) lost();
  return promise;
}

/** The error for a response of status 300 or more. Reads its body, which may be a Status. */
export async function errorOf(response: IncomingMessage, what: string, server: URL): Promise<KubeApiError> {
  const status = response.statusCode ?? 0;
  const retryAfterMs = parseRetryAfter(response.headers['retry-after']);
  if (status >= 300 && status < 400) {
    response.destroy();
    return new KubeApiError(`${what}: the server redirects, which is never followed`, { status, reason: 'Redirect' });
  }
  const said = await readStatus(response, server);
  return new KubeApiError(`${what}: ${said.message || `HTTP status ${status}`}`, {
    status,
    reason: said.reason,
    causes: said.details?.causes.map((cause) => cause.reason) ?? [],
    retryAfterMs,
  });
}

/** `Retry-After` in seconds, as API servers send it; anything else is ignored. */
function parseRetryAfter(header: string | undefined): number | undefined {
  return header !== undefined && /^\d+$/.test(header) ? retryAfterMsOf(Number(header)) : undefined;
}

async function readStatus(
  response: IncomingMessage,
  server: URL,
): Promise<Pick<Status, 'message' | 'reason'> & Partial<Pick<Status, 'details'>>> {
  try {
    const body = await readBody(response, MAX_ERROR_BYTES, server);
    return isProtobuf(response) ? statusFromProtobuf(body) : statusFromJson(parseJson(body));
  } catch {
    // A proxy's HTML page, or a body that was cut: only the HTTP status is known.
    return { message: '', reason: '' };
  }
}
