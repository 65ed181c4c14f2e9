import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { onTestFinished } from 'vitest';

/** A Pod of an app, and the page of its status; a number is an HTTP status instead. */
type ServedPod = {
  readonly app: string;
  readonly name: string;
  readonly status: number | (() => Promise<string> | string);
};

const authority = await createAuthority();
const { certPem: cert, keyPem: key } = await authority.issue({
  usage: 'server',
  commonName: 'api-server',
  ips: ['127.0.0.1'],
});

/** Of a server that the kubeconfigs of `kubeconfigOf` trust. */
export const certificate = { cert, key };

/** An API server that lists Pods and asks them for their status; or refuses each request. */
type Served =
  | {
      readonly pods: readonly ServedPod[];
      /** Objects, lists and texts by path, with the label selector as its query. */
      readonly objects?: Readonly<Record<string, object | string>>;
    }
  | { readonly refusal: number; readonly message: string };

/** Starts it until the test ends. @returns its URL */
export async function startApiServer(served: Served): Promise<string> {
  const server = createServer(certificate, (request, response) => {
    void answerTo(request.url ?? '', served).then(({ code, body }) => {
      response.writeHead(code, { 'content-type': 'application/json' }).end(body);
    });
  });
  return `https://127.0.0.1:${await startListening(server)}`;
}

/** Listens on 127.0.0.1 until the test ends. @returns the port */
export async function startListening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

async function answerTo(url: string, served: Served): Promise<{ code: number; body: string }> {
  if ('refusal' in served) return refusal(served.refusal, served.message);
  const { pathname, searchParams } = new URL(url, 'http://x');
  const selector = searchParams.get('labelSelector');
  const object = served.objects?.[selector === null ? pathname : `${pathname}?${selector}`];
  if (object !== undefined) return { code: 200, body: typeof object === 'string' ? object : JSON.stringify(object) };
  if (pathname === '/api/v1/pods') {
    // One Pod a page.
    const at = Number(searchParams.get('continue') ?? '0');
    const next = at + 1 < served.pods.length ? String(at + 1) : '';
    const items = served.pods.slice(at, at + 1).map(podOf);
    const metadata = { resourceVersion: '1', continue: next };
    return { code: 200, body: JSON.stringify({ apiVersion: 'v1', kind: 'PodList', metadata, items }) };
  }
  const [, name] = /^\/api\/v1\/namespaces\/kube-system\/pods\/([^/]+):8080\/proxy\/status$/.exec(pathname) ?? [];
  const status = served.pods.find((pod) => pod.name === name)?.status ?? 404;
  return typeof status === 'number' ? refusal(status, 'it is away') : { code: 200, body: await status() };
}

const refusal = (code: number, message: string) => ({ code, body: JSON.stringify({ kind: 'Status', code, message }) });

const podOf = ({ app, name }: ServedPod) => ({
  metadata: { name, namespace: 'kube-system', labels: { app } },
  spec: { nodeName: 'n1', containers: [{ ports: [{ name: 'http', containerPort: 8080 }] }] },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
});

/** A kubeconfig with a context for each server, whose user has a token, until the test ends. @returns its path */
export async function kubeconfigOf(servers: Readonly<Record<string, string>>, current = ''): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'semaphore-cli-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const names = Object.keys(servers);
  const path = join(dir, 'kubeconfig');
  const ca = Buffer.from(authority.caPem).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': current,
    clusters: names.map((name) => ({ name, cluster: { server: servers[name], 'certificate-authority-data': ca } })),
    users: names.map((name) => ({ name: `${name}-admin`, user: { token: 'secret' } })),
    contexts: names.map((name) => ({ name, context: { cluster: name, user: `${name}-admin` } })),
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}
