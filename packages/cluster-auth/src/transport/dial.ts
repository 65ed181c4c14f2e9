import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { authorityOf } from './endpoint.ts';
import { UnreachableError } from '../errors.ts';
import { abortable } from '../credentials/rotating.ts';

/** Where a connection leads; IPv6 without brackets. */
export type Target = { readonly host: string; readonly port: number };

type Address = { readonly address: string; readonly family: number };

/** An address that was tried, and why there is no connection. */
type Attempt = { readonly address: string; readonly error: Error };

/** What the machine does for `dial`. */
export type Network = {
  /** All addresses of a host, the best first (RFC 6724). */
  resolve(host: string): Promise<readonly Address[]>;
  /** Begins to connect to an address. */
  begin(target: Target): Socket;
};

/** How long one connection may take with all its addresses: client-go's value. */
const TIMEOUT_MS = 30_000;

/** How much sooner the first address family begins: that of RFC 6555, as in Go's net.Dialer. */
const FALLBACK_DELAY_MS = 300;

/** An address gets at least this long, even if later ones then get less, as in Go. */
const MIN_ATTEMPT_MS = 2_000;

/** How long a connection is idle before TCP checks it: client-go's value. Load balancers drop idle connections. */
export const KEEPALIVE_MS = 30_000;

const machine: Network = {
  resolve: (host) => lookup(host, { all: true, order: 'verbatim' }),
  begin: ({ host, port }) =>
    connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEPALIVE_MS }),
};

/**
 * Opens a TCP connection as client-go does, by Go's net.Dialer. The addresses of a name are tried in turn, and share 30 s.
 * The other address family begins 300 ms later, or when the first has failed. Node.js gives an address 250 ms, so it never
 * reaches a far server whose name has two (nodejs/node#54359).
 *
 * @throws the reason of the signal; {@link UnreachableError} with all addresses; for a host that is an address, or has none, the
 *   error of the system
 */
export async function dial(
  target: Target,
  { signal }: { signal: AbortSignal },
  network: Network = machine,
): Promise<Socket> {
  signal.throwIfAborted();
  const ended = new AbortController();
  const end = (): void => ended.abort(signal.reason);
  const timer = setTimeout(() => ended.abort(timeoutOf(target)), TIMEOUT_MS);
  signal.addEventListener('abort', end, { once: true });
  try {
    return await dialWithin(target, performance.now() + TIMEOUT_MS, ended.signal, network);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    // Ends the other attempts.
    ended.abort();
  }
}

async function dialWithin(target: Target, deadlineMs: number, ended: AbortSignal, network: Network): Promise<Socket> {
  const addresses = await abortable(network.resolve(target.host), ended);
  const tried: Attempt[] = [];
  const inTurn = async (list: readonly Address[]): Promise<Socket> => {
    for (const [index, { address }] of list.entries()) {
      ended.throwIfAborted();
      const limitMs = attemptMs(deadlineMs - performance.now(), list.length - index);
      try {
        return await attempt({ host: address, port: target.port }, limitMs, ended, network);
      } catch (error) {
        tried.push({ address, error: error as Error });
      }
    }
    throw new Error('no address is left');
  };

  const isFirst = ({ family }: Address): boolean => family === addresses[0]?.family;
  const others = addresses.filter((address) => !isFirst(address));
  const turn = Promise.withResolvers<void>();
  const timer = setTimeout(turn.resolve, FALLBACK_DELAY_MS);
  const first = inTurn(addresses.filter(isFirst));
  first.catch(() => turn.resolve());
  const families = others.length === 0 ? [first] : [first, turn.promise.then(() => inTurn(others))];
  try {
    const winner = await Promise.any(families);
    // Both may connect at once. Why the other one doesn't is of no interest then.
    for (const each of families) each.then((socket) => socket !== winner && socket.destroy()).catch(() => undefined);
    return winner;
  } catch {
    throw failureOf(target, tried, addresses.length - tried.length);
  } finally {
    clearTimeout(timer);
  }
}

/** How long an address is tried, in ms: all that are left get the same part, but at least two seconds if there are as many. */
export function attemptMs(leftMs: number, addressesLeft: number): number {
  return Math.min(leftMs, Math.max(leftMs / addressesLeft, MIN_ATTEMPT_MS));
}

async function attempt(target: Target, limitMs: number, ended: AbortSignal, network: Network): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = network.begin(target);
  // The listener stays: without one, an error before the caller adds its own would end the process.
  socket.once('connect', resolve).on('error', reject);
  const end = (): void => void socket.destroy(ended.reason as Error);
  const timer = setTimeout(() => socket.destroy(timeoutOf(target)), limitMs);
  ended.addEventListener('abort', end, { once: true });
  try {
    await promise;
    return socket;
  } finally {
    clearTimeout(timer);
    ended.removeEventListener('abort', end);
  }
}

/** As the system's own error, which comes after two minutes. */
function timeoutOf({ host, port }: Target): Error {
  return Object.assign(new Error(`connect ETIMEDOUT ${authorityOf(host, port)}`), { code: 'ETIMEDOUT' });
}

function failureOf({ host, port }: Target, tried: readonly Attempt[], untried: number): Error {
  const [first] = tried;
  if (first !== undefined && isIP(host) !== 0) return first.error;
  const codes = tried.map(({ address, error }) => `${address} (${codeOf(error)})`);
  const rest = untried === 0 ? '' : `; there was no time for ${untried} more`;
  const message = `no address of ${authorityOf(host, port)} can be reached: ${codes.join(', ')}${rest}`;
  return new UnreachableError(message, first === undefined ? 'ETIMEDOUT' : codeOf(first.error));
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
