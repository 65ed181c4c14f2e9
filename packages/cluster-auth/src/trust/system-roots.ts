import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import type { Dependencies } from '../dependencies.ts';
import { fixed, type Rotating } from '../credentials/rotating.ts';
import { openFiles, readText } from '../credentials/rotating-files.ts';
import { certificatesIn } from './pem.ts';

/** Where Linux distributions have their bundle of roots, in the order of Go's crypto/x509. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** Where they have single roots, and where people mount their own. */
const DIRECTORIES = ['/etc/ssl/certs', '/etc/pki/tls/certs'];

/**
 * The roots that this machine trusts, by the rules of Go's crypto/x509: the file in SSL_CERT_FILE or the distribution's
 * bundle, and all certificate files in the directories of SSL_CERT_DIR or the distribution. Unlike in Go, SSL_CERT_FILE
 * without SSL_CERT_DIR excludes the distribution's directories. The directories are listed once; the files are read again
 * when they change. Without any file it is undefined: the roots that Node.js has built in.
 *
 * @throws {ClusterAuthError} if SSL_CERT_FILE has no certificates
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

/** The certificate files of a directory, sorted; other files are skipped, as in Go. */
async function certificateFiles(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(() => []); // not every distribution has it
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(directory, name);
      try {
        certificatesIn({ text: await readText(path), where: path });
        return path;
      } catch {
        // A README, a folder, a broken link.
        return undefined;
      }
    }),
  );
  return found.filter((path) => path !== undefined).toSorted(compareText);
}

/**
 * The PEM that verifies an https: proxy: the roots of this machine, and the cluster's CA, with which Go verifies proxies.
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
      // Another distribution has this one.
    }
  }
  return undefined;
}
