import { isIP, type Socket } from 'node:net';
import tls from 'node:tls';
import { dial } from '../transport/dial.ts';
import { hostOf, portOf } from '../transport/endpoint.ts';
import { handshake } from '../transport/handshake.ts';
import { SecureContexts } from '../trust/secure-contexts.ts';

/**
 * A connection to a proxy itself, with TLS if its URL is https:.
 *
 * @param roots returns the PEM that verifies an https: proxy
 */
export async function dialProxy(
  proxy: URL,
  { signal, roots }: { readonly signal: AbortSignal; readonly roots: (() => Promise<string>) | undefined },
): Promise<Socket> {
  const [host, port] = [hostOf(proxy), portOf(proxy)];
  if (proxy.protocol !== 'https:') return dial({ host, port }, { signal });
  return new SecureContexts(await roots?.()).connect(async (secureContext) => {
    const socket = await dial({ host, port }, { signal });
    const servername = isIP(host) === 0 ? host : '';
    const options = { socket, secureContext, host, servername, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] };
    return handshake(tls.connect(options), { signal });
  });
}
