import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import type { Target } from '../agent.ts';
import { hostOf, loginOf, portOf } from '../endpoint.ts';
import { Refusal } from '../errors.ts';

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const PASSWORD = 2;

/** RFC 1928, section 6. */
const REPLIES = [
  'succeeded',
  'general failure',
  'not allowed by its rules',
  'network unreachable',
  'host unreachable',
  'connection refused',
  'TTL expired',
  'command not supported',
  'address type not supported',
];

/**
 * A connection to the target through a SOCKS5 proxy (RFC 1928), such as `ssh -D`. Host names are resolved by the
 * proxy, as Go has it.
 *
 * @param ended aborts the attempt, and has no effect on the connection once it stands
 */
export async function connectThroughSocks(proxy: URL, target: Target, ended: AbortSignal): Promise<Socket> {
  ended.throwIfAborted();
  const socket = connect({ host: hostOf(proxy), port: portOf(proxy) });
  // Who reads gets the error. Between two reads nobody does, and an error that nobody hears ends the process.
  socket.on('error', () => {});
  const onEnded = () => socket.destroy(ended.reason);
  ended.addEventListener('abort', onEnded, { once: true });
  try {
    await once(socket, 'connect');
    await authenticate(socket, proxy);
    await request(socket, target);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    ended.removeEventListener('abort', onEnded);
  }
}

async function authenticate(socket: Socket, proxy: URL): Promise<void> {
  const { username = '', password = '' } = loginOf(proxy) ?? {};
  const methods = username === '' ? [NO_AUTHENTICATION] : [NO_AUTHENTICATION, PASSWORD];
  socket.write(Buffer.of(VERSION, methods.length, ...methods));
  const [version, method] = await readBytes(socket, 2);
  if (version !== VERSION) throw new Refusal('it does not speak SOCKS5');
  if (method === NO_AUTHENTICATION) return;
  if (method !== PASSWORD || username === '') throw new Refusal('it wants another authentication');
  // RFC 1929
  socket.write(Buffer.of(1, ...counted(username), ...counted(password)));
  const [, status] = await readBytes(socket, 2);
  if (status !== 0) throw new Refusal('it refused the user name and password');
}

async function request(socket: Socket, { host, port }: Target): Promise<void> {
  socket.write(Buffer.of(VERSION, 1, 0, ...address(host), port >> 8, port & 0xff));
  const [, reply = 1, , type] = await readBytes(socket, 4);
  if (reply !== 0) throw new Refusal(`it answered: ${REPLIES[reply] ?? `reply ${reply}`}`);
  // The address that it connects from, which is of no use here.
  const length = type === 1 ? 4 : type === 4 ? 16 : ((await readBytes(socket, 1))[0] ?? 0);
  await readBytes(socket, length + 2);
}

/** Type and bytes of an address. */
function address(host: string): number[] {
  switch (isIP(host)) {
    case 4:
      return [1, ...host.split('.').map(Number)];
    case 6:
      return [4, ...ipv6Bytes(host)];
    default:
      return [3, ...counted(host)];
  }
}

function ipv6Bytes(host: string): number[] {
  const groups = (part: string | undefined) => (part ? part.split(':').map((group) => Number.parseInt(group, 16)) : []);
  const [head, tail] = host.split('::').map(groups);
  const zeros = Array<number>(8 - (head?.length ?? 0) - (tail?.length ?? 0)).fill(0);
  return [...(head ?? []), ...zeros, ...(tail ?? [])].flatMap((group) => [group >> 8, group & 0xff]);
}

function counted(text: string): number[] {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > 255) throw new Refusal('it takes names of 255 bytes at most');
  return [bytes.length, ...bytes];
}

/** The next bytes of a socket, exactly so many; what came along with them goes back. */
async function readBytes(socket: Socket, length: number): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  while (bytes.length < length) bytes = Buffer.concat([bytes, await nextChunk(socket)]);
  if (bytes.length > length) socket.unshift(bytes.subarray(length));
  return bytes.subarray(0, length);
}

async function nextChunk(socket: Socket): Promise<Buffer> {
  if (socket.destroyed) throw new Refusal('it closed the connection');
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const onData = (chunk: Buffer) => {
    // At once, or the stream goes on to chunks that nobody hears of.
    socket.pause();
    resolve(chunk);
  };
  const onEnd = () => reject(new Refusal('it closed the connection'));
  socket.on('data', onData).on('end', onEnd).on('error', reject).resume();
  return promise.finally(() => socket.off('data', onData).off('end', onEnd).off('error', reject));
}
