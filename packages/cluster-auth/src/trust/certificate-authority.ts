import { fileURLToPath } from 'node:url';
import type { Dependencies } from '../dependencies.ts';
import { redacted } from '../endpoint.ts';
import { ClusterAuthError } from '../errors.ts';
import { fixed, type Rotating } from '../rotating.ts';
import { openFiles } from '../rotating-files.ts';
import { fetchedCa } from './fetched-ca.ts';
import { type PemSource, readCertificates } from './pem.ts';

/**
 * A CA that stands in a kubeconfig, or in a file that is read again when it changes.
 *
 * @throws {ClusterAuthError} if it can't be read now
 */
export async function openCa(source: PemSource, { clock, log }: Dependencies): Promise<Rotating<string>> {
  if (!('path' in source)) return fixed(readCertificates(source));
  const { path } = source;
  return openFiles({ paths: [path], parse: ([text = '']) => readCertificates({ text, where: path }), clock, log });
}

/**
 * A CA by URL. A file is read at once; what lies on the network is fetched when it is first needed, as a remote
 * that is down must not hold back a start.
 *
 * @throws {ClusterAuthError} for another scheme, and for a file that can't be read
 */
export async function openCaUrl(raw: string, deps: Dependencies): Promise<Rotating<string>> {
  const url = URL.parse(raw);
  switch (url?.protocol) {
    case 'file:':
      return openCa({ path: filePath(url) }, deps);
    case 'http:':
      deps.log.warn({ url: redacted(url) }, 'CA is fetched unencrypted, whoever is on the way can replace it');
      return fetchedCa(url, deps);
    case 'https:':
      return fetchedCa(url, deps);
    default:
      throw new ClusterAuthError('CLUSTER_ADDRESS', 'the CA URL must be an https:, http: or file: URL');
  }
}

function filePath(url: URL): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    const message = `the CA URL ${redacted(url)} names no file of this machine: write file:///path/to/ca.crt`;
    throw new ClusterAuthError('CLUSTER_ADDRESS', message, { cause });
  }
}
