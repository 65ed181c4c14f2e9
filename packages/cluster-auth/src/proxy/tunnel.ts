import type { Socket } from 'node:net';
import type { Target, Tunnel } from '../agent.ts';
import { authorityOf, redacted } from '../endpoint.ts';
import { ClusterAuthError, reasonOf } from '../errors.ts';
import { connectThroughHttp } from './http-connect.ts';
import { connectThroughSocks } from './socks.ts';

/** How long a proxy may take, including its own connection to the API server. */
const TIMEOUT_MS = 30_000;

/**
 * A tunnel through a proxy, which can't read the TLS inside.
 *
 * @param proxy an http:, https: or socks5: URL
 * @param roots returns the PEM that verifies an https: proxy; called for each connection
 */
export function tunnelThrough(proxy: URL, roots?: () => Promise<string>): Tunnel {
  return async (target, { signal }) => {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    try {
      return await open(proxy, target, AbortSignal.any([signal, timeout]), roots);
    } catch (cause) {
      if (signal.aborted) throw cause;
      const reason = timeout.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : reasonOf(cause);
      const to = authorityOf(target.host, target.port);
      const message = `the proxy ${redacted(proxy)} opens no connection to ${to}: ${reason}`;
      throw new ClusterAuthError('CLUSTER_PROXY', message, { cause });
    }
  };
}

async function open(proxy: URL, target: Target, ended: AbortSignal, roots?: () => Promise<string>): Promise<Socket> {
  if (proxy.protocol === 'socks5:') return connectThroughSocks(proxy, target, ended);
  return connectThroughHttp(proxy, target, ended, await roots?.());
}
