import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, writeKubeconfig } from '@kube-semaphore/embedded-apiserver';

export type ScriptedAnswer = (request: IncomingMessage, response: ServerResponse) => void;

/** The head of a request. */
type ScriptedRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
};

/**
 * An HTTPS server for what no API server does: it answers each request with the next of `answers`, and all later ones
 * with `then`. The caller stops it.
 */
export async function startScriptedServer(answers: readonly ScriptedAnswer[], then: ScriptedAnswer) {
  const authority = await createAuthority();
  const { certPem, keyPem } = await authority.issue({ usage: 'server', commonName: 'scripted', ips: ['127.0.0.1'] });
  const requests: ScriptedRequest[] = [];
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    const { method = '', url = '', headers } = request;
    requests.push({ method, url, headers });
    (answers[requests.length - 1] ?? then)(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const dir = await mkdtemp(join(tmpdir(), 'scripted-'));
  const kubeconfig = await writeKubeconfig(join(dir, 'kubeconfig'), {
    name: 'scripted',
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caPem: authority.caPem,
    credentials: { token: 'x' },
  });
  return {
    kubeconfig,
    requests: requests as readonly ScriptedRequest[],
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await rm(dir, { recursive: true });
    },
  };
}
