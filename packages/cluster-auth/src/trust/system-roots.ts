import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import type { Dependencies } from '../dependencies.ts';
import { fixed, type Rotating } from '../rotating.ts';
import { openFiles, readText } from '../rotating-files.ts';
import { certificatesIn } from './pem.ts';

/** Where Linux distributions keep their bundle of roots, in the order of Go's crypto/x509. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** Where they keep single ones besides, and people mount their own. */
const DIRECTORIES = ['/etc/ssl/certs', '/etc/pki/tls/certs'];

/**
 * The roots that this machine trusts, as Go's crypto/x509 finds them: the file that SSL_CERT_FILE names, or else the
 * distribution's bundle; and all files with certificates in the directories that SSL_CERT_DIR lists, or else in the
 * distribution's. Unlike there, SSL_CERT_FILE alone is all that is trusted. The directories are listed once, and what
 * was found in them is read again. On a machine without any it is undefined, the list that Node was built with.
 *
 * @throws {ClusterAuthError} if SSL_CERT_FILE names no bundle of certificates
 */
export async function openSystemRoots({ env, clock, log }: Dependencies): Promise<Rotating<string | undefined>> {
  const [namedFile, namedDirectories] = [env['SSL_CERT_FILE'], env['SSL_CERT_DIR']];
  const bundle = namedFile || (await firstReadable(BUNDLES));
  const defaults = namedFile ? [] : DIRECTORIES;
  const directories = namedDirectories ? namedDirectories.split(':').filter(Boolean) : defaults;
  const single = (await Promise.all(directories.map(certificateFiles))).flat().filter((path) => path !== bundle);
  const paths = bundle === undefined ? single : [bundle, ...single];
  if (paths.length === 0) return fixed(undefined);
  const whereOf = (path: string): string => (path === namedFile ? `SSL_CERT_FILE ${path}` : path);
  const parse = (texts: readonly string[]): string =>
    [...new Set(texts.flatMap((text, i) => certificatesIn({ text, where: whereOf(paths[i]!) })))].join('\n');
  return openFiles({ paths, parse, clock, log });
}

/** The files of a directory that hold certificates, in order; all else that may lie there is passed over, as Go does. */
async function certificateFiles(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(() => []); // it isn't on every distribution
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(directory, name);
      try {
        certificatesIn({ text: await readText(path), where: path });
        return path;
      } catch {
        // A README, a folder, a link to nothing.
        return undefined;
      }
    }),
  );
  return found.filter((path) => path !== undefined).toSorted(compareText);
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

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

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
