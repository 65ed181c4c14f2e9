import type { Agent, RequestOptions } from 'node:https';
import { openClientAgent } from '@kube-semaphore/cluster-auth';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Context } from './contexts.ts';

/** What a request to a context's API server is sent with. */
export type Access = { readonly agent: Agent; readonly headers: Readonly<Record<string, string>> };

/** The last agent of each context, and what it was made of: a plugin may give another certificate. */
const agents = new WeakMap<KubeConfig, { readonly made: string; readonly agent: Promise<Agent> }>();

/**
 * The credentials of a context, by client-node, which knows exec plugins and OIDC. Connections are ours, as client-node's
 * reach fewer servers than kubectl.
 *
 * @throws {Error} if a plugin fails, or a certificate or a proxy can't be used
 */
export async function accessOf({ kube, server }: Pick<Context, 'kube' | 'server'>): Promise<Access> {
  const options: RequestOptions = {};
  await kube.applyToHTTPSOptions(options);
  const { ca, cert, key, servername, auth, headers, rejectUnauthorized } = options;
  const keyPair = cert === undefined || key === undefined ? undefined : { certPem: textOf(cert), keyPem: textOf(key) };
  const wanted = {
    ca: ca === undefined ? undefined : textOf(ca),
    keyPair,
    tlsServerName: servername,
    proxyUrl: kube.getCurrentCluster()?.proxyUrl,
    insecure: rejectUnauthorized === false,
  };
  const made = JSON.stringify(wanted);
  let last = agents.get(kube);
  if (last?.made !== made) {
    last = { made, agent: openClientAgent({ server: new URL(server), ...wanted }, process.env) };
    agents.set(kube, last);
  }
  const basic = auth ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
  return { agent: await last.agent, headers: { ...(headers as Record<string, string>), ...basic } };
}

/** client-node gives Buffers of PEM, or texts. */
const textOf = (pem: unknown): string => String(pem as Buffer | string);
