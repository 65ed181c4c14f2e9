import type { ClientRequest, IncomingMessage } from 'node:http';
import { type Agent, request as httpsRequest } from 'node:https';

/** The target of requests, and the signal that ends them. */
export type ForwardOptions = { readonly url: string; readonly agent: Agent; readonly signal: AbortSignal };

/** Hop-by-hop headers (RFC 9110, section 7.6.1): each side sets its own. */
const hopByHop = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade'];

/**
 * Sends the head of a request to another server, below `url`. The caller sends the body.
 *
 * @returns the outgoing request, and its answer, which rejects if the server doesn't answer or `signal` aborts
 */
export function forward(
  { method, rawHeaders }: IncomingMessage,
  target: string,
  { url, agent, signal }: ForwardOptions,
): { onward: ClientRequest; answer: Promise<IncomingMessage> } {
  const { promise: answer, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // As a flat list, because a header may repeat: Impersonate-Group does.
  const headers = endToEnd(rawHeaders);
  const onward = httpsRequest(`${url}${target}`, { method, headers, agent, signal }, resolve);
  onward.on('error', reject);
  // A client may wait for an answer before it sends the body.
  onward.flushHeaders();
  return { onward, answer };
}

/** The headers that a proxy passes on: a flat list of names and values, as in `rawHeaders`. */
export function endToEnd(rawHeaders: readonly string[], except: readonly string[] = []): string[] {
  const dropped = [...hopByHop, ...except];
  return rawHeaders.flatMap((name, index) => {
    if (index % 2 === 1 || dropped.includes(name.toLowerCase())) return [];
    return [name, rawHeaders[index + 1]!];
  });
}
