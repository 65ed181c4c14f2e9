import type { Dependencies } from './dependencies.ts';
import { ClusterAuthError } from './errors.ts';
import type { Rotating } from './rotating.ts';
import { openFiles } from './rotating-files.ts';
import type { KeyPair } from './trust/pem.ts';

/** Who we are to an API server. Neither is anonymous, which is a choice too. */
export type Credentials = {
  /** Value of the `authorization` header. */
  readonly authorization?: string;
  /** Presented in the TLS handshake. */
  readonly keyPair?: KeyPair;
};

/**
 * A token in a file, read again when it changes, each minute and when it was refused. Kubelet replaces that of a
 * pod at 80 % of its life.
 *
 * @throws {ClusterAuthError} if there is none now
 */
export function openToken(path: string, { clock, log }: Dependencies): Promise<Rotating<Credentials>> {
  const parse = ([text = '']: readonly string[]) => ({ authorization: bearer(text, `the token file ${path}`) });
  return openFiles({ paths: [path], parse, clock, log });
}

/**
 * The header of a bearer token. Space around it is dropped: files end in a line feed.
 *
 * @param where the file or field that holds it, for the error; the token is never repeated
 * @throws {ClusterAuthError} for a token that no server gave out
 */
export function bearer(token: string, where: string): string {
  const trimmed = token.trim();
  if (trimmed === '') throw new ClusterAuthError('CLUSTER_TOKEN', `${where} is empty`);
  if (/^[\x21-\x7e]+$/.test(trimmed)) return `Bearer ${trimmed}`;
  throw new ClusterAuthError('CLUSTER_TOKEN', `${where} holds no token: there are spaces or control characters in it`);
}

/**
 * What of the credentials of a request must not be repeated: the token, or the password in both of its forms, and the
 * key.
 */
export function secretsOf({ authorization = '', keyPair }: Credentials): readonly string[] {
  const secret = authorization.slice(authorization.indexOf(' ') + 1);
  const login = authorization.startsWith('Basic ') ? Buffer.from(secret, 'base64').toString() : '';
  return [secret, login.slice(login.indexOf(':') + 1), keyPair?.keyPem ?? ''];
}

/** The header of a user name and a password (RFC 7617), which some proxies before an API server take. */
export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
