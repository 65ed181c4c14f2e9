import { fileURLToPath } from 'node:url';
import type { Dependencies } from '../dependencies.ts';
import { redacted } from '../transport/endpoint.ts';
import { ClusterAuthError } from '../errors.ts';
import { fixed, type Rotating } from '../credentials/rotating.ts';
import { openFiles } from '../credentials/rotating-files.ts';
import { fetchedCa } from './fetched-ca.ts';
import { type Pem, type PemSource, readCertificates, readPinned } from './pem.ts';

/**
 * A CA in a kubeconfig, or in a file that is read again when it changes.
 *
 * @param read returns the trusted certificates of the text
 * @throws {ClusterAuthError} if it can't be read now
 */
export async function openCa(
  source: PemSource,
  { clock, log }: Dependencies,
  read: (pem: Pem) => string = readCertificates,
): Promise<Rotating<string>> {
  if (!('path' in source)) return fixed(read(source));
  const { path } = source;
  return openFiles({ paths: [path], parse: ([text = '']) => read({ text, where: path }), clock, log });
}

/**
 * A CA by URL. A file is read at once. Other URLs are fetched when they are first needed, because a remote that is down
 * must not delay a start.
 *
 * @param hashes of the trusted keys, as for `readPinned`; without them, all certificates are trusted
 * @throws {ClusterAuthError} for another scheme, and for a file that can't be read
 */
export async function openCaUrl(
  raw: string,
  hashes: readonly string[] | undefined,
  deps: Dependencies,
): Promise<Rotating<string>> {
  const read = hashes === undefined ? readCertificates : (pem: Pem) => readPinned(pem, hashes);
  const url = URL.parse(raw);
  switch (url?.protocol) {
    case 'file:':
      return openCa({ path: filePath(url) }, deps, read);
    case 'http:':
      if (hashes === undefined) {
        deps.log.warn(
          { url: redacted(url) },
          'CA is fetched without encryption; anyone on the network path can replace it',
        );
      }
      return fetchedCa(url, read, deps);
    case 'https:':
      return fetchedCa(url, read, deps);
    default:
      throw new ClusterAuthError('CLUSTER_ADDRESS', 'the CA URL must be an https:, http: or file: URL');
  }
}

function filePath(url: URL): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    const message = `the CA URL ${redacted(url)} must name a file on this machine, such as file:///path/to/ca.crt`;
    throw new ClusterAuthError('CLUSTER_ADDRESS', message, { cause });
  }
}
