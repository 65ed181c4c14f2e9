/**
 * A program like the Go program, which mirrors Services by Endpoints instead of slices. It lists both sides in a loop. Its
 * arguments are the kubeconfigs of the local and the remote cluster, the prefix, the namespace of the mirrors and the
 * label selector.
 */
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { mirrorServiceName } from '@kube-semaphore/service-mirror/names';

const PAUSE_MS = 20;

type Kubeconfig = {
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } },
  ];
  readonly users: readonly [{ readonly user: { readonly token: string } }];
};
type Call = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
) => Promise<KubeObject & { items?: KubeObject[] }>;

async function connect(kubeconfig: string): Promise<Call> {
  const { clusters, users } = JSON.parse(await readFile(kubeconfig, 'utf8')) as Kubeconfig;
  const { server, 'certificate-authority-data': ca } = clusters[0].cluster;
  const agent = new Agent({ keepAlive: true, ca: Buffer.from(ca, 'base64') });
  const headers = {
    authorization: `Bearer ${users[0].user.token}`,
    accept: 'application/json',
    'content-type': 'application/json',
  };
  return async (method, path, body) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sent = request(`${server}${path}`, { agent, method, headers }, resolve).on('error', reject);
    sent.end(body && JSON.stringify(body));
    const response = await promise;
    const answer = JSON.parse(await text(response)) as KubeObject;
    if ((response.statusCode ?? 0) >= 300) throw new Error(`${method} ${path}: ${String(answer['message'])}`);
    return answer;
  };
}

const [local = '', remote = '', prefix = '', namespace = '', selector = ''] = process.argv.slice(2);
const [there, here] = [await connect(remote), await connect(local)];
const mirrors = (resource: string) => `/api/v1/namespaces/${namespace}/${resource}`;
const fields = { services: 'spec', endpoints: 'subsets' } as const;

async function mirror(resource: keyof typeof fields): Promise<void> {
  const field = fields[resource];
  const { items: sources = [] } = await there(
    'GET',
    `/api/v1/${resource}?labelSelector=${encodeURIComponent(selector)}`,
  );
  const { items: found = [] } = await here('GET', mirrors(resource));
  const observed = new Map(found.map((object) => [object.metadata.name, object]));
  for (const { metadata, ...source } of sources) {
    const name = mirrorServiceName(prefix, metadata.namespace ?? '', metadata.name);
    const is = observed.get(name);
    observed.delete(name);
    const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
    const wanted = resource === 'services' ? { ports } : source[field];
    const object = {
      apiVersion: 'v1',
      kind: resource === 'services' ? 'Service' : 'Endpoints',
      metadata: { name },
      [field]: wanted,
    };
    if (is === undefined) await here('POST', mirrors(resource), object);
    else if (resource === 'endpoints' && !isDeepStrictEqual(is[field], wanted))
      await here('PUT', `${mirrors(resource)}/${name}`, object);
  }
  for (const name of observed.keys()) await here('DELETE', `${mirrors(resource)}/${name}`);
}

for (;;) {
  await mirror('services');
  await mirror('endpoints');
  await delay(PAUSE_MS);
}
