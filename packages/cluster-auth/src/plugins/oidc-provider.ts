import * as z from 'zod/mini';
import { bearer, type Credentials } from '../credentials/credentials.ts';
import type { Dependencies } from '../dependencies.ts';
import { ClusterAuthError } from '../errors.ts';
import { type Rotating, singleFlight } from '../credentials/rotating.ts';
import { type OidcClient, refreshTokens } from './oidc-refresh.ts';

/** The tokens of a kubeconfig's `auth-provider` with the name `oidc`. */
export type OidcTokens = { readonly idToken: string | undefined; readonly refreshToken: string | undefined };

/** A header, and when it expires: milliseconds since 1970. */
type Session = { readonly credentials: Credentials; readonly expiresMs: number };

/**
 * Credentials of an OpenID Connect user: the id-token. After that expires, the refresh-token gets another one.
 *
 * Follows client-go (plugin/pkg/client/auth/oidc), except that new tokens stay in memory: we don't write kubeconfigs. If
 * an issuer accepts a refresh-token only once, a restart needs a new sign-in.
 *
 * @param where names the provider, for errors
 * @throws {ClusterAuthError} if the id-token is not valid
 */
export function oidcCredentials(
  tokens: OidcTokens,
  client: OidcClient,
  where: string,
  deps: Dependencies,
): Rotating<Credentials> {
  let { refreshToken } = tokens;
  let session = tokens.idToken === undefined ? undefined : sessionOf(tokens.idToken, where);

  const refresh = singleFlight(async () => {
    if (refreshToken === undefined) {
      throw new ClusterAuthError('CLUSTER_PLUGIN', `${where} has no valid id-token, and no refresh-token`);
    }
    deps.secrets.hold(client, [refreshToken, client.secret ?? '']);
    const answer = await refreshTokens(client, refreshToken, where, deps);
    refreshToken = answer.refreshToken ?? refreshToken;
    session = sessionOf(answer.idToken, where);
    return session.credentials;
  });

  return {
    async current() {
      return session !== undefined && deps.clock.epochMs() < session.expiresMs ? session.credentials : refresh();
    },
    // If a token is refused before it expires, the next one would be, too, and each 401 would cost a refresh.
    renew: async () => {},
  };
}

const claims = z.object({ exp: z.number() });

/** Reads when a JWT expires (RFC 7519, section 4.1.4). The API server checks its signature. */
function sessionOf(idToken: string, where: string): Session {
  const credentials = { authorization: bearer(idToken, `${where}: id-token`) };
  try {
    const [, payload = ''] = idToken.split('.');
    const { exp } = claims.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
    return { credentials, expiresMs: exp * 1000 };
  } catch {
    // No cause: it would quote the token.
    throw new ClusterAuthError('CLUSTER_TOKEN', `${where}: id-token is not a JWT with an exp`);
  }
}
