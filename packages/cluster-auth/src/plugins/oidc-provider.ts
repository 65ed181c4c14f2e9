import * as z from 'zod/mini';
import { bearer, type Credentials } from '../credentials.ts';
import type { Dependencies } from '../dependencies.ts';
import { ClusterAuthError } from '../errors.ts';
import { type Rotating, singleFlight } from '../rotating.ts';
import { type OidcClient, refreshTokens } from './oidc-refresh.ts';

/** The tokens that a kubeconfig's `auth-provider` of the name `oidc` has. */
export type OidcTokens = { readonly idToken: string | undefined; readonly refreshToken: string | undefined };

/** A header, and until when it is good: milliseconds since 1970. */
type Session = { readonly credentials: Credentials; readonly expiresMs: number };

/**
 * Credentials of an OpenID Connect user: the id-token, and when that has expired another one by the refresh-token.
 *
 * Follows client-go (plugin/pkg/client/auth/oidc), but for the new tokens, which stay in memory: a kubeconfig is ours
 * to read. (An issuer that takes a refresh-token only once wants a new sign-in after a restart, then.) It isn't
 * client-node's provider, as that of 2.0.1 can't refresh: it calls openid-client with types that this refuses.
 *
 * @param where names the provider, for errors
 * @throws {ClusterAuthError} if the id-token is none
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
      throw new ClusterAuthError(
        'CLUSTER_PLUGIN',
        `${where} has no valid id-token, and no refresh-token to get one with`,
      );
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
    // A token that is refused before its time would be refused again, and the issuer asked at every 401.
    renew: async () => {},
  };
}

const claims = z.object({ exp: z.number() });

/** Reads when a JWT expires (RFC 7519, section 4.1.4). Its signature is the API server's to check. */
function sessionOf(idToken: string, where: string): Session {
  const credentials = { authorization: bearer(idToken, `${where}: id-token`) };
  try {
    const [, payload = ''] = idToken.split('.');
    const { exp } = claims.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
    return { credentials, expiresMs: exp * 1000 };
  } catch {
    // No cause: it would quote the token.
    throw new ClusterAuthError('CLUSTER_TOKEN', `${where}: id-token is no JWT with an exp`);
  }
}
