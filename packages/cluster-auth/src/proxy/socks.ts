import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Target } from '../agent.ts';
import { hostOf, loginOf, portOf } from '../endpoint.ts';
import { Refusal } from '../errors.ts';

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
 * @param ended aborts the attempt, and has no effect on an established connection
 */
export async function connectThroughSocks(proxy: URL, target: Target, ended: AbortSignal): Promise<Socket> {
  ended.throwIfAborted();
  const { username = '', password = '' } = loginOf(proxy) ?? {};
  // For longer ones the library throws an error that can't be caught, which would end the process.
  const isTooLong = [username, password, target.host].some((text) => Buffer.byteLength(text) > 255);
  if (isTooLong) throw new Refusal('SOCKS5 allows host names, user names and passwords of at most 255 bytes');
  // Loaded only if it is needed. In our bundle it has no named exports.
  const { SocksClient } = (await import('socks')).default;
  const [host, port] = [hostOf(proxy), portOf(proxy)];
  const socket = connect({ host, port });
  // The library removes its listener before the caller adds one; an error in between would end the process.
  socket.on('error', () => {});
  const onEnded = () => socket.destroy(ended.reason);
  ended.addEventListener('abort', onEnded, { once: true });
  try {
    await once(socket, 'connect');
    const login = username === '' ? {} : { userId: username, password };
    const options = { proxy: { host, port, type: 5, ...login }, destination: target, command: 'connect' } as const;
    await SocksClient.createConnection({ ...options, existing_socket: socket });
    return socket;
  } catch (error) {
    socket.destroy();
    // The socket's own error has a code. The library's error isn't the cause, as it holds the password.
    throw socket.errored ?? refusal(error, username);
  } finally {
    ended.removeEventListener('abort', onEnded);
  }
}

function refusal(error: unknown, username: string): Refusal {
  const message = error instanceof Error ? error.message : String(error);
  // If the proxy requires a password and there is none, the library sends an empty one.
  const isWithoutLogin = message === 'Socks5 Authentication failed' && username === '';
  return new Refusal(isWithoutLogin ? 'it requires another authentication' : (WORDS[message] ?? message));
}
