import * as z from 'zod/mini';
import type { Dependencies } from '../dependencies.ts';
import { ClusterAuthError } from '../errors.ts';
import type { Rotating } from './rotating.ts';
import { openFiles } from './rotating-files.ts';
import type { KeyPair } from '../trust/pem.ts';

/** When a credential is valid, in milliseconds since 1970. */
export type Validity = { readonly fromMs: number; readonly untilMs: number };

/** Who we are to an API server; anonymous without a header and a key pair. */
export type Credentials = {
  /** Value of the `authorization` header. */
  readonly authorization?: string;
  /** Presented in the TLS handshake. */
  readonly keyPair?: KeyPair;
  /** Undefined: they don't end, or we renew them ourselves. */
  readonly validity?: Validity | undefined;
};

/**
 * A token in a file, read again when it changes, every minute, and when the API server refuses it. Kubelet replaces a
 * Pod's token after 80 % of its lifetime.
 *
 * @throws {ClusterAuthError} if the file has no token now
 */
export function openToken(path: string, { clock, log }: Dependencies): Promise<Rotating<Credentials>> {
  const parse = ([text = '']: readonly string[]) => tokenCredentials(text, `the token file ${path}`);
  return openFiles({ paths: [path], parse, clock, log });
}

/** The credentials of a token that others renew. @param where as for `bearer` @throws {ClusterAuthError} as `bearer` */
export const tokenCredentials = (token: string, where: string): Credentials => ({
  authorization: bearer(token, where),
  validity: validityOfToken(token),
});

/** Of a Date: ECMA-262, section 21.4.1.1. */
const MAX_SECONDS = 8.64e12;

const seconds = z.number().check(z.gte(0), z.lte(MAX_SECONDS));
const claims = z.object({ iat: seconds, exp: seconds });

/** The claims `iat` and `exp` of a JWT (RFC 7519); undefined for another token, and without them. */
function validityOfToken(token: string): Validity | undefined {
  const [, payload = ''] = token.split('.');
  try {
    const { iat, exp } = claims.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
    return { fromMs: iat * 1_000, untilMs: exp * 1_000 };
  } catch {
    // API servers accept tokens of any form.
    return undefined;
  }
}

/**
 * The header for a bearer token. Space around the token is dropped: files end in a line feed.
 *
 * @param where the file or field of the token, for the error, which never repeats the token
 * @throws {ClusterAuthError} for a token that no server issues
 */
export function bearer(token: string, where: string): string {
  const trimmed = token.trim();
  if (trimmed === '') throw new ClusterAuthError('CLUSTER_TOKEN', `${where} is empty`);
  if (/^[\x21-\x7e]+$/.test(trimmed)) return `Bearer ${trimmed}`;
  throw new ClusterAuthError('CLUSTER_TOKEN', `${where} is not a valid token: it has spaces or control characters`);
}

/**
 * The parts of credentials that no output may repeat: the token, or the password as it is and in base64, and the key.
 */
export function secretsOf({ authorization = '', keyPair }: Credentials): readonly string[] {
  const secret = authorization.slice(authorization.indexOf(' ') + 1);
  const login = authorization.startsWith('Basic ') ? Buffer.from(secret, 'base64').toString() : '';
  return [secret, login.slice(login.indexOf(':') + 1), keyPair?.keyPem ?? ''];
}

/** The header for a user name and a password (RFC 7617), which some proxies before an API server accept. */
export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
