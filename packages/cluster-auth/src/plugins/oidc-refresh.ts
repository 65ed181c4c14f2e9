import * as z from 'zod/mini';
import { basic } from '../credentials/credentials.ts';
import type { Dependencies } from '../dependencies.ts';
import { ClusterAuthError, reasonOf, Refusal } from '../errors.ts';
import { fetchText } from '../transport/fetch-text.ts';
import type { Rotating } from '../credentials/rotating.ts';

/** Who we are to an OpenID Connect issuer. */
export type OidcClient = {
  readonly issuer: URL;
  readonly id: string;
  /** Undefined for a public client, such as a program on people's machines. */
  readonly secret: string | undefined;
  /** Verifies the issuer; undefined: the roots of this machine. */
  readonly ca: Rotating<string> | undefined;
};

/** OpenID Connect Discovery 1.0, section 3. */
const metadata = z.object({
  token_endpoint: z.string(),
  token_endpoint_auth_methods_supported: z.nullish(z.array(z.string())),
});

/** OpenID Connect Core 1.0, section 12.2. An issuer may omit the id-token, but we need it. */
const answer = z.object({ id_token: z.string(), refresh_token: z.nullish(z.string()) });

/**
 * Gets new tokens for a refresh-token (RFC 6749, section 6) from the endpoint that the issuer names.
 *
 * @param where names the provider, for errors
 * @throws {ClusterAuthError} with the URL, and without the answer
 */
export async function refreshTokens(
  client: OidcClient,
  refreshToken: string,
  where: string,
  deps: Dependencies,
): Promise<{ idToken: string; refreshToken: string | undefined }> {
  const ca = await client.ca?.current();
  const ask = async <T>(
    url: URL,
    request: { body?: string; headers?: Record<string, string> },
    schema: z.ZodMiniType<T>,
  ) => {
    try {
      return readJson(await fetchText(url, { ca, ...request }, deps), schema);
    } catch (cause) {
      if (cause instanceof ClusterAuthError) throw cause;
      const message = `${where} got no id-token from ${url.origin}${url.pathname}: ${reasonOf(cause)}`;
      throw new ClusterAuthError('CLUSTER_PLUGIN', message, { cause });
    }
  };
  const discovery = new URL(`${client.issuer.href.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const { token_endpoint: endpoint, token_endpoint_auth_methods_supported: methods } = await ask(
    discovery,
    {},
    metadata,
  );
  const url = URL.parse(endpoint);
  if (url?.protocol !== 'https:') {
    throw new ClusterAuthError(
      'CLUSTER_PLUGIN',
      `${where}: the token endpoint at ${discovery.href} must be an https: URL`,
    );
  }
  const tokens = await ask(url, grant(client, refreshToken, methods), answer);
  return { idToken: tokens.id_token, refreshToken: tokens.refresh_token || undefined };
}

/** The client's secret is in the header, which is the default method, or in the form if the issuer lists only that. */
function grant({ id, secret }: OidcClient, refreshToken: string, methods: readonly string[] | null | undefined) {
  const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken });
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
  if (secret !== undefined && (methods?.includes('client_secret_basic') ?? true)) {
    // Both are encoded as in a form: RFC 6749, section 2.3.1.
    headers['authorization'] = basic(encodeURIComponent(id), encodeURIComponent(secret));
  } else {
    form.set('client_id', id);
    if (secret !== undefined) form.set('client_secret', secret);
  }
  return { body: form.toString(), headers };
}

function readJson<T>(text: string, schema: z.ZodMiniType<T>): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    // No cause: it would quote the JSON, which may contain tokens.
    throw new Refusal('its answer is not valid in OpenID Connect');
  }
}
