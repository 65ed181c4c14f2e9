import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, type KubeObject, writeKubeconfig } from '@kube-semaphore/embedded-apiserver';

type HostileServerOptions = {
  /** The token that clients send. */
  readonly token: string;
  /** The objects that it serves; all other lists are empty. */
  readonly objects?: readonly KubeObject[];
  /** A refusal that it sends instead of answers: as a Status, and to a watch as its only event, which may be larger. */
  readonly refusal?: (authorization: string) => string;
};

/** An API server that breaks rules: its objects and errors may be anything. */
type HostileServer = { readonly kubeconfig: string; readonly stop: () => Promise<void> };

const KINDS: Readonly<Record<string, readonly [apiVersion: string, kind: string]>> = {
  pods: ['v1', 'Pod'],
  nodes: ['v1', 'Node'],
  services: ['v1', 'Service'],
  endpointslices: ['discovery.k8s.io/v1', 'EndpointSlice'],
};

/** A client rejects a Status with a message over 256 KiB, or a reason over 1 KiB. */
const REASON_CHARACTERS = 500;
const STATUS_CHARACTERS = 100_000;

/** Serves JSON, in lists and in watches that begin with all objects. The caller stops it. */
export async function startHostileServer({
  token,
  objects = [],
  refusal,
}: HostileServerOptions): Promise<HostileServer> {
  const authority = await createAuthority();
  const { certPem, keyPem } = await authority.issue({ usage: 'server', commonName: 'hostile', ips: ['127.0.0.1'] });
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    if (refusal === undefined) serve(request, response, objects);
    else refuse(request, response, refusal(request.headers.authorization ?? ''));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dir = await mkdtemp(join(tmpdir(), 'hostile-'));
  const kubeconfig = await writeKubeconfig(join(dir, 'kubeconfig'), {
    name: 'hostile',
    url,
    caPem: authority.caPem,
    credentials: { token },
  });
  return {
    kubeconfig,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await rm(dir, { recursive: true });
    },
  };
}

function serve({ url = '' }: IncomingMessage, response: ServerResponse, objects: readonly KubeObject[]): void {
  const { pathname, searchParams: query } = new URL(url, 'https://x');
  const [apiVersion, kind] = KINDS[pathname.split('/').at(-1)!] ?? ['v1', 'Nothing'];
  const items = objects
    .filter((object) => object['kind'] === kind)
    .map((object, i) => ({ ...object, metadata: { uid: `uid-${i}`, resourceVersion: '7', ...object.metadata } }));
  response.writeHead(200, { 'content-type': 'application/json' });
  if (!query.has('watch')) {
    response.end(JSON.stringify({ apiVersion, kind: `${kind}List`, metadata: { resourceVersion: '9' }, items }));
    return;
  }
  response.flushHeaders();
  if (!query.has('sendInitialEvents')) return;
  for (const object of items) response.write(eventOf('ADDED', object));
  const metadata = { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } };
  response.write(eventOf('BOOKMARK', { apiVersion, kind, metadata }));
}

function refuse({ url = '' }: IncomingMessage, response: ServerResponse, words: string): void {
  const status = (message: string): object => ({
    apiVersion: 'v1',
    kind: 'Status',
    status: 'Failure',
    code: 403,
    reason: message.slice(0, REASON_CHARACTERS),
    message,
  });
  if (new URL(url, 'https://x').searchParams.has('watch'))
    response.writeHead(200, { 'content-type': 'application/json' }).end(eventOf('ERROR', status(words)));
  else
    response
      .writeHead(403, { 'content-type': 'application/json' })
      .end(JSON.stringify(status(words.slice(0, STATUS_CHARACTERS))));
}

const eventOf = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
