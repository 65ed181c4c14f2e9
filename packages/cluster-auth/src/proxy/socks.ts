import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Target } from '../agent.ts';
import { hostOf, loginOf, portOf } from '../endpoint.ts';
import { Refusal } from '../errors.ts';

/** What the library's errors, which have no code, mean for whoever wrote the URL. */
const WORDS: Readonly<Record<string, string>> = {
  'Received invalid Socks5 initial handshake (invalid socks version)': 'it does not speak SOCKS5',
  'Received invalid Socks5 initial handshake (no accepted authentication type)': 'it wants another authentication',
  'Received invalid Socks5 initial handshake (unknown authentication type)': 'it wants another authentication',
  'Socks5 Authentication failed': 'it refused the user name and password',
  'Socket closed': 'it closed the connection',
};

/**
 * A connection to the target through a SOCKS5 proxy (RFC 1928), such as `ssh -D`. Host names are resolved by the
 * proxy, as Go has it.
 *
 * @param ended aborts the attempt, and has no effect on the connection once it stands
 */
export async function connectThroughSocks(proxy: URL, target: Target, ended: AbortSignal): Promise<Socket> {
  ended.throwIfAborted();
  const { username = '', password = '' } = loginOf(proxy) ?? {};
  // The library throws where nobody can catch it, and the process would end.
  const isTooLong = [username, password, target.host].some((text) => Buffer.byteLength(text) > 255);
  if (isTooLong) throw new Refusal('it takes names of 255 bytes at most');
  // Few need it. Our bundle finds no named exports in it.
  const { SocksClient } = (await import('socks')).default;
  const [host, port] = [hostOf(proxy), portOf(proxy)];
  const socket = connect({ host, port });
  // The library stops to listen before the caller begins, and an error that nobody hears ends the process.
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
    // The socket's own error has a code. Not the library's as a cause: that one holds the password.
    throw socket.errored ?? refusal(error, username);
  } finally {
    ended.removeEventListener('abort', onEnded);
  }
}

function refusal(error: unknown, username: string): Refusal {
  const message = error instanceof Error ? error.message : String(error);
  // The library answers a proxy that wants a password, where there is none, with an empty one.
  const isWithoutLogin = message === 'Socks5 Authentication failed' && username === '';
  return new Refusal(isWithoutLogin ? 'it wants another authentication' : (WORDS[message] ?? message));
}
