import { ClusterAuthError } from '../errors.ts';
import type { KubeconfigUser } from './schema.ts';

/**
 * The headers for a user that acts as another
 * (https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/). Each group and extra value has its own
 * header line: an API server doesn't split them at commas.
 *
 * @param where names a field of the kubeconfig's user, for the error
 * @throws {ClusterAuthError} for a value that is not valid in a header
 */
export function impersonationHeaders(
  user: KubeconfigUser,
  where: (field: string) => string,
): Record<string, string | string[]> {
  const { as, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = user;
  if (as === undefined) return {};
  const encode = (field: string) => (value: string) => headerValue(value, where(field));
  const headers: Record<string, string | string[]> = { 'Impersonate-User': encode('as')(as) };
  if (uid !== undefined) headers['Impersonate-Uid'] = encode('as-uid')(uid);
  if (groups.length > 0) headers['Impersonate-Group'] = groups.map(encode('as-groups'));
  for (const [key, values] of Object.entries(extra)) {
    headers[`Impersonate-Extra-${escapeKey(key)}`] = values.map(encode('as-user-extra'));
  }
  return headers;
}

/** Node.js writes each character of a header as one byte; Kubernetes reads the bytes as UTF-8. */
function headerValue(value: string, where: string): string {
  if (!/(?!\t)\p{Cc}/u.test(value)) return Buffer.from(value, 'utf8').toString('latin1');
  throw new ClusterAuthError('CLUSTER_KUBECONFIG', `${where} has control characters`);
}

/** Percent-encodes `%` and all characters that are not valid in a header's name (client-go's headerKeyEscape). */
function escapeKey(key: string): string {
  return Buffer.from(key, 'utf8')
    .toString('latin1')
    .replaceAll(/[^\w!#$&'*+.^`|~-]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}
