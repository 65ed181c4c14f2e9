import { access } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import type { Dependencies } from '../dependencies.ts';
import { fixed, type Rotating } from '../rotating.ts';
import { openFiles } from '../rotating-files.ts';
import { readCertificates } from './pem.ts';

/** Where Linux distributions keep their bundle of roots, in the order of Go's crypto/x509. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/**
 * The roots that this machine trusts, as Go's crypto/x509 finds them: the file that SSL_CERT_FILE names, or else
 * the distribution's bundle. On a machine without one it is undefined, the list that Node was built with.
 *
 * @throws {ClusterAuthError} if SSL_CERT_FILE names no bundle of certificates
 */
export async function openSystemRoots({ env, clock, log }: Dependencies): Promise<Rotating<string | undefined>> {
  const named = env['SSL_CERT_FILE'];
  const path = named || (await firstReadable(BUNDLES));
  if (path === undefined) return fixed(undefined);
  const where = named ? `SSL_CERT_FILE ${named}` : path;
  return openFiles({ paths: [path], parse: ([text = '']) => readCertificates({ text, where }), clock, log });
}

/**
 * Whom to trust as an https: proxy: Go verifies one with the cluster's own CA, where there is one, so it may be
 * signed by that; or by a root of this machine.
 *
 * @throws {ClusterAuthError} as `openSystemRoots`
 */
export async function openProxyRoots(
  clusterCa: Rotating<string | undefined>,
  deps: Dependencies,
): Promise<() => Promise<string>> {
  const system = await openSystemRoots(deps);
  return async () => {
    const roots = (await system.current()) ?? rootCertificates.join('\n');
    return `${roots}\n${(await clusterCa.current()) ?? ''}`;
  };
}

async function firstReadable(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    try {
      await access(path);
      return path;
    } catch {
      // Another distribution's place.
    }
  }
  return undefined;
}
