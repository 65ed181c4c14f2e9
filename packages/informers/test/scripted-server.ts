import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Connection, connect } from '@kube-semaphore/cluster-auth';
import { createAuthority, writeKubeconfig } from '@kube-semaphore/embedded-apiserver';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * An HTTPS server that does what no API server does: it answers each request with the next of `answers`, and all that
 * follow with `then`.
 */
export async function startScriptedServer(answers: readonly Answer[], then: Answer) {
  const authority = await createAuthority();
  const { certPem, keyPem } = await authority.issue({ usage: 'server', commonName: 'hostile', ips: ['127.0.0.1'] });
  const requests: string[] = [];
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    requests.push(request.url ?? '');
    (answers[requests.length - 1] ?? then)(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dir = await mkdtemp(join(tmpdir(), 'hostile-'));
  const path = await writeKubeconfig(join(dir, 'kubeconfig'), {
    name: 'hostile',
    url,
    caPem: authority.caPem,
    credentials: { token: 'x' },
  });
  const connection: Connection = await connect(
    { kind: 'kubeconfig', path },
    { env: {}, log: { info: () => {}, warn: () => {} } },
  );
  return {
    connection,
    requests,
    stop: async () => {
      connection.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await rm(dir, { recursive: true });
    },
  };
}
