import type { ClientRequest, IncomingMessage } from 'node:http';
import { type Agent, request as httpsRequest } from 'node:https';

/** Where requests go, and until when. */
export type ForwardOptions = { readonly url: string; readonly agent: Agent; readonly signal: AbortSignal };

/** About one connection, not about the message (RFC 9110, section 7.6.1): each side makes its own. */
const hopByHop = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade'];

/**
 * Sends the head of a request on to another server, below `url`; its body is the caller's to send.
 *
 * @returns the outgoing request, and its answer; that rejects when the server doesn't answer or `signal` is aborted
 */
export function forward(
  { method, rawHeaders }: IncomingMessage,
  target: string,
  { url, agent, signal }: ForwardOptions,
): { onward: ClientRequest; answer: Promise<IncomingMessage> } {
  const { promise: answer, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // As a flat list, as which a header may come twice: Impersonate-Group does.
  const headers = endToEnd(rawHeaders);
  const onward = httpsRequest(`${url}${target}`, { method, headers, agent, signal }, resolve);
  onward.on('error', reject);
  // Who sends a head may wait for an answer before there is a body.
  onward.flushHeaders();
  return { onward, answer };
}

/** The headers that go through a proxy, a flat list of names and values as in `rawHeaders`. */
export function endToEnd(rawHeaders: readonly string[], except: readonly string[] = []): string[] {
  const dropped = [...hopByHop, ...except];
  return rawHeaders.flatMap((name, index) => {
    if (index % 2 === 1 || dropped.includes(name.toLowerCase())) return [];
    return [name, rawHeaders[index + 1]!];
  });
}
