import type { Socket } from 'node:net';
import type { Tunnel } from '../transport/agent.ts';
import type { Target } from '../transport/dial.ts';
import { authorityOf, redacted } from '../transport/endpoint.ts';
import { ClusterAuthError, reasonOf, Refusal } from '../errors.ts';
import { dialProxy } from './dial-proxy.ts';
import { connectThroughHttp } from './http-connect.ts';
import { connectThroughSocks } from './socks.ts';

/** How long a proxy may take to connect to the API server: that of Go's net/http for CONNECT. */
const TIMEOUT_MS = 60_000;

/**
 * A tunnel through a proxy, which can't read the TLS inside.
 *
 * @param proxy an http:, https: or socks5: URL
 * @param roots returns the PEM that verifies an https: proxy; called for each connection
 */
export function tunnelThrough(proxy: URL, roots?: () => Promise<string>): Tunnel {
  return async (target, { signal }) => {
    try {
      return await askFor(target, proxy, await dialProxy(proxy, { signal, roots }), signal);
    } catch (cause) {
      if (signal.aborted) throw cause;
      const to = authorityOf(target.host, target.port);
      const message = `the proxy ${redacted(proxy)} opens no connection to ${to}: ${reasonOf(cause)}`;
      throw new ClusterAuthError('CLUSTER_PROXY', message, { cause });
    }
  };
}

async function askFor(target: Target, proxy: URL, socket: Socket, signal: AbortSignal): Promise<Socket> {
  const ended = new AbortController();
  const timeout = new Refusal(`no answer within ${TIMEOUT_MS / 1000} s`);
  const timer = setTimeout(() => ended.abort(timeout), TIMEOUT_MS);
  const isSocks = proxy.protocol === 'socks5:';
  try {
    const either = AbortSignal.any([signal, ended.signal]);
    return await (isSocks ? connectThroughSocks : connectThroughHttp)(proxy, socket, target, either);
  } finally {
    clearTimeout(timer);
  }
}
