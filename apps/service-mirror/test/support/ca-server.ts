import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAuthority, type TestCluster } from '@kube-semaphore/embedded-apiserver';

/** A server of a cluster's CA. */
export type CaServer = {
  /** `https:` */
  readonly url: string;
  /** The CA of this server's own certificate, for `SSL_CERT_FILE`. */
  readonly rootsFile: string;
  readonly stop: () => void;
};

/** Serves a cluster's CA, as the Go program's configuration requires. */
export async function startCaServer({ caFile, dir }: TestCluster): Promise<CaServer> {
  const authority = await createAuthority('public CA');
  const certificate = await authority.issue({ usage: 'server', commonName: 'ca', ips: ['127.0.0.1'] });
  const [rootsFile, ca] = [join(dir, 'roots.pem'), await readFile(caFile)];
  await writeFile(rootsFile, authority.caPem);
  const tls = { cert: certificate.certPem, key: certificate.keyPem };
  const server = createServer(tls, (_, response) => response.end(ca)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}`, rootsFile, stop: () => server.close().closeAllConnections() };
}
