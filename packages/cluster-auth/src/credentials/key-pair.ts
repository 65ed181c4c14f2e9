import { X509Certificate } from 'node:crypto';
import type { Credentials } from './credentials.ts';
import type { Dependencies } from '../dependencies.ts';
import { fixed, type Rotating } from './rotating.ts';
import { openFiles } from './rotating-files.ts';
import { type Pem, type PemSource, readKeyPair } from '../trust/pem.ts';

/**
 * A client certificate and its key, in files or in a kubeconfig. Files are read as a pair: while they are replaced one
 * after the other, the old pair stays in use until the new ones match.
 *
 * @throws {ClusterAuthError} if they can't be read now, or don't match
 */
export async function openKeyPair(cert: PemSource, key: PemSource, deps: Dependencies): Promise<Rotating<Credentials>> {
  const paths = [cert, key].flatMap((source) => ('path' in source ? [source.path] : []));
  const parse = (texts: readonly string[]) => {
    const pemOf = (source: PemSource): Pem =>
      'path' in source ? { text: texts[paths.indexOf(source.path)] ?? '', where: source.path } : source;
    const keyPair = readKeyPair(pemOf(cert), pemOf(key));
    const { validFromDate, validToDate } = new X509Certificate(keyPair.certPem);
    return { keyPair, validity: { fromMs: validFromDate.getTime(), untilMs: validToDate.getTime() } };
  };
  return paths.length === 0 ? fixed(parse([])) : openFiles({ paths, parse, clock: deps.clock, log: deps.log });
}

/** Adds a client certificate to credentials that don't have their own. */
export function withKeyPair(credentials: Rotating<Credentials>, keyPair: Rotating<Credentials>): Rotating<Credentials> {
  return {
    async current() {
      const [own, pair] = await Promise.all([credentials.current(), keyPair.current()]);
      return { ...pair, ...own };
    },
    async renew() {
      await Promise.all([credentials.renew(), keyPair.renew()]);
    },
  };
}
