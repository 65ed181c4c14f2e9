import * as z from 'zod/mini';
import { basic, bearer, type Credentials } from './credentials.ts';
import type { Dependencies } from './dependencies.ts';
import { ClusterAuthError, reasonOf } from './errors.ts';
import { fetchText } from './fetch-text.ts';
import { type Rotating, singleFlight } from './rotating.ts';

/** The fields of a kubeconfig's `auth-provider: {name: oidc}`, checked. */
export type OidcProvider = {
  readonly issuer: URL;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly idToken: string | undefined;
  readonly refreshToken: string | undefined;
  /** Verifies the issuer; undefined for the roots of this machine. */
  readonly ca: Rotating<string> | undefined;
  /** Names the provider, in errors. */
  readonly where: string;
};

/** OpenID Connect Discovery 1.0, section 3. */
const metadata = z.object({
  token_endpoint: z.string(),
  token_endpoint_auth_methods_supported: z.optional(z.array(z.string())),
});

/** OpenID Connect Core 1.0, section 12.2. */
const tokenResponse = z.object({ id_token: z.string(), refresh_token: z.optional(z.string()) });

/**
 * Credentials of an OpenID Connect user: the id-token, and when that has expired another one by the refresh-token.
 * Follows client-go (plugin/pkg/client/auth/oidc), but for the new tokens, which stay in memory: a kubeconfig is ours
 * to read. An issuer that takes each refresh-token once wants a new sign-in after a restart, then.
 */
export function oidcCredentials(provider: OidcProvider, deps: Dependencies): Rotating<Credentials> {
  const { where } = provider;
  let { idToken, refreshToken } = provider;
  let last: Credentials | undefined;
  let expiresMs = -Infinity;

  function use(token: string): Credentials {
    expiresMs = expiryOf(token, where);
    last = { authorization: bearer(token, `${where}: id-token`) };
    return last;
  }

  const refresh = singleFlight(async () => {
    if (refreshToken === undefined) {
      throw new ClusterAuthError('CLUSTER_PLUGIN', `${where} has no valid id-token, and no refresh-token to get one with`);
    }
    const response = await refreshed(provider, refreshToken, deps);
    refreshToken = response.refresh_token ?? refreshToken;
    return use(response.id_token);
  });

  return {
    async current() {
      if (last === undefined && idToken !== undefined) use(idToken);
      return last !== undefined && deps.clock.epochMs() < expiresMs ? last : refresh();
    },
    // A token that was refused before its end would be refused again, and the issuer asked at each 401.
    renew: async () => {},
  };
}

async function refreshed(provider: OidcProvider, refreshToken: string, deps: Dependencies) {
  const { issuer, clientId, clientSecret, where } = provider;
  const ca = await provider.ca?.current();
  const discovery = new URL(`${issuer.href.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const { token_endpoint: endpoint, token_endpoint_auth_methods_supported: methods } = await ask(discovery, { ca }, metadata);

  const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken });
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
  if (clientSecret !== undefined && (methods?.includes('client_secret_basic') ?? true)) {
    // RFC 6749, section 2.3.1, wants both encoded as in a form.
    headers['authorization'] = basic(encodeURIComponent(clientId), encodeURIComponent(clientSecret));
  } else {
    form.set('client_id', clientId);
    if (clientSecret !== undefined) form.set('client_secret', clientSecret);
  }
  return ask(new URL(endpoint), { ca, headers, body: form.toString() }, tokenResponse);

  async function ask<T>(url: URL, request: Parameters<typeof fetchText>[1], schema: z.ZodMiniType<T>): Promise<T> {
    if (url.protocol !== 'https:') throw fail(`${url.origin} is not https:`);
    try {
      return schema.parse(JSON.parse(await fetchText(url, request, deps)));
    } catch (error) {
      throw fail(`${url.origin}${url.pathname}: ${error}`);
    }
  }
}
