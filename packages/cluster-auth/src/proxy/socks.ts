import type { Socket } from 'node:net';
import type { Target } from '../transport/dial.ts';
import { hostOf, loginOf, portOf } from '../transport/endpoint.ts';
import { Refusal } from '../errors.ts';

/** Of the library's own timer, which ends later than ours. It is never cleared, so it isn't endless. */
const LIBRARY_TIMEOUT_MS = 120_000;

/** The library's errors, which have no code, in words for a user. */
const WORDS: Readonly<Record<string, string>> = {
  'Received invalid Socks5 initial handshake (invalid socks version)': 'it does not speak SOCKS5',
  'Received invalid Socks5 initial handshake (no accepted authentication type)': 'it requires another authentication',
  'Received invalid Socks5 initial handshake (unknown authentication type)': 'it requires another authentication',
  'Socks5 Authentication failed': 'it refused the user name and password',
  'Socket closed': 'it closed the connection',
};

/**
 * A connection to the target through a SOCKS5 proxy (RFC 1928), such as `ssh -D`. The proxy resolves host names, as in
 * Go.
 *
 * @param socket leads to the proxy, and is closed if that refuses
 * @param ended aborts the attempt, and has no effect on an established connection
 */
export async function connectThroughSocks(
  proxy: URL,
  socket: Socket,
  target: Target,
  ended: AbortSignal,
): Promise<Socket> {
  const { username = '', password = '' } = loginOf(proxy) ?? {};
  const onEnded = () => socket.destroy(ended.reason);
  ended.addEventListener('abort', onEnded, { once: true });
  try {
    // For longer ones the library throws an error that can't be caught, which would end the process.
    const isTooLong = [username, password, target.host].some((text) => Buffer.byteLength(text) > 255);
    if (isTooLong) throw new Refusal('SOCKS5 allows host names, user names and passwords of at most 255 bytes');
    // Loaded only if it is needed. In our bundle it has no named exports.
    const { SocksClient } = (await import('socks')).default;
    const login = username === '' ? {} : { userId: username, password };
    await SocksClient.createConnection({
      proxy: { host: hostOf(proxy), port: portOf(proxy), type: 5, ...login },
      destination: target,
      command: 'connect',
      existing_socket: socket,
      timeout: LIBRARY_TIMEOUT_MS,
    });
    return socket;
  } catch (error) {
    socket.destroy();
    // The socket's own error has a code. The library's error isn't the cause: it contains the password.
    if (error instanceof Refusal) throw error;
    throw socket.errored ?? refusal(error, username);
  } finally {
    ended.removeEventListener('abort', onEnded);
  }
}

function refusal(error: unknown, username: string): Refusal {
  const message = error instanceof Error ? error.message : String(error);
  // If the proxy requires a password that we don't have, the library sends an empty one.
  const isWithoutLogin = message === 'Socks5 Authentication failed' && username === '';
  return new Refusal(isWithoutLogin ? 'it requires another authentication' : (WORDS[message] ?? message));
}
