import type { TLSSocket } from 'node:tls';
import { Refusal } from '../errors.ts';

/** How long a server may take for TLS: client-go's value. */
const TIMEOUT_MS = 10_000;

/**
 * Waits until TLS stands, and the server is verified.
 *
 * @throws the error of the connection; the reason of the signal. The socket is closed then.
 */
export async function handshake(socket: TLSSocket, { signal }: { signal: AbortSignal }): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  /**
   * The listener stays. Once an answer has arrived completely, Node.js removes its own from the socket, even if the answer
   * isn't read yet. An abort at that moment destroys the socket with an error without a listener, which would end the
   * process. The request or its answer reports the error anyway.
   */
  socket.once('secureConnect', resolve).on('error', reject);
  const end = (): void => void socket.destroy(signal.reason as Error);
  const timer = setTimeout(
    () => socket.destroy(new Refusal(`no answer to the TLS handshake within ${TIMEOUT_MS / 1000} s`)),
    TIMEOUT_MS,
  );
  signal.addEventListener('abort', end, { once: true });
  try {
    if (signal.aborted) end();
    await promise;
    return socket;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}
