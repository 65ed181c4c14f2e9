import type { RequestOptions } from 'node:https';
import type { User } from '@kubernetes/client-node';
import { bearer, type Credentials } from './credentials.ts';
import type { Dependencies } from './dependencies.ts';
import { ClusterAuthError } from './errors.ts';
import { type Rotating, singleFlight } from './rotating.ts';

/** client-node answers from memory while a token is good, so asking it often costs little. */
const ASK_INTERVAL_MS = 1_000;

/**
 * Tokens from the `oidc` auth provider of a kubeconfig, by way of @kubernetes/client-node, which is loaded when the
 * first one is needed: it doubles the memory of a process. A refreshed token stays in memory, while kubectl writes
 * it back to the file.
 *
 * @param where names the provider, for errors
 */
export function oidcCredentials(
  config: Readonly<Record<string, string>>,
  where: string,
  { clock, lifetime }: Dependencies,
): Rotating<Credentials> {
  // client-node puts refreshed tokens into the user's config.
  const user: User = { name: 'user', authProvider: { name: 'oidc', config: { ...config } } };
  let last: Credentials | undefined;
  let askedMs = 0;
  const ask = singleFlight(async () => {
    askedMs = clock.monotonicMs();
    last = undefined;
    last = { authorization: await tokenOf(user, where, lifetime) };
    return last;
  });
  return {
    async current() {
      return last !== undefined && clock.monotonicMs() - askedMs < ASK_INTERVAL_MS ? last : ask();
    },
    // The provider decides by the token's expiry alone; it is asked again within a second.
    renew: async () => {},
  };
}

async function tokenOf(user: User, where: string, lifetime: AbortSignal): Promise<string> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  // A new one each time: client-node 2.0.1 takes the lifetime of a refreshed token for its expiry, and would refresh
  // at each request from then on. A new one reads the expiry from the token.
  const kubeconfig = new KubeConfig();
  const cluster = { name: 'cluster', server: 'https://localhost', skipTLSVerify: false };
  kubeconfig.loadFromClusterAndUser(cluster, user);
  const options: RequestOptions = {};
  try {
    await kubeconfig.applyToHTTPSOptions(options);
  } catch (cause) {
    lifetime.throwIfAborted();
    throw new ClusterAuthError('CLUSTER_PLUGIN', `${where} gave no token`, { cause });
  }
  const headers = options.headers as Record<string, string | undefined> | undefined;
  const header = headers?.['Authorization'];
  if (header !== undefined) return bearer(header.replace(/^Bearer /, ''), `${where}: the id-token`);
  const message = `${where} gave no token: id-token is missing, or has expired without a refresh-token to get another`;
  throw new ClusterAuthError('CLUSTER_PLUGIN', message);
}
