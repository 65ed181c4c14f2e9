import { createServer } from 'node:https';
import { expect, it } from 'vitest';
import { deadEnds, readExported } from '../src/check/facts/exported.ts';
import { contextsOf } from '../src/clusters/contexts.ts';
import { valueOf } from '../src/clusters/objects.ts';
import { certificate, kubeconfigOf, startListening } from './support/api-server.ts';
import { appPod } from './support/reports.ts';

const run = { signal: new AbortController().signal };

/** A cluster with Services and Pods, in pages of 500, and what it was asked for. */
async function clusterOf(services: readonly object[], podsIn: (namespace: string | undefined) => readonly object[]) {
  const asked: string[] = [];
  const server = createServer(certificate, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const [, namespace, plural] = /^\/api\/v1\/(?:namespaces\/([^/]+)\/)?(\w+)$/.exec(pathname) ?? [];
    asked.push(plural ?? pathname);
    const all = plural === 'services' ? services : podsIn(namespace);
    const from = Number(searchParams.get('continue') || '0');
    const next = from + 500 < all.length ? String(from + 500) : '';
    const kind = plural === 'services' ? 'ServiceList' : 'PodList';
    const metadata = { resourceVersion: '1', continue: next };
    response.end(JSON.stringify({ apiVersion: 'v1', kind, metadata, items: all.slice(from, from + 500) }));
  });
  const kubeconfig = await kubeconfigOf({ c1: `https://127.0.0.1:${await startListening(server)}` });
  const [context] = await contextsOf({ kubeconfig, context: ['c1'] });
  const mirror = appPod({
    app: 'semaphore-service-mirror',
    config: { mirrorSelector: 'mirror=true', globalSelector: null },
  });
  const input = { report: { cluster: 'c1', pods: [mirror] }, groups: new Set<string>() };
  return { asked, read: async () => valueOf(await readExported(context!, input, run))! };
}

const service = (namespace: string, name: string) => ({
  metadata: { namespace, name },
  spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8081 }] },
});
const pod = (namespace: string, app: string, phase = 'Running') => ({
  metadata: { namespace, name: app, labels: { app } },
  spec: { containers: [{ ports: [{ containerPort: 8080 }] }] },
  status: { phase },
});
const count = (asked: readonly string[], plural: string): number => asked.filter((each) => each === plural).length;

it('check asks only for the namespaces of a few Services', async () => {
  const { asked, read } = await clusterOf([service('shop', 'web'), service('shop', 'cart')], (namespace) =>
    namespace === undefined ? [] : [pod(namespace, 'web'), pod(namespace, 'cart', 'Succeeded')],
  );
  expect(deadEnds(await read())).toEqual({
    podless: ['shop/cart (app=cart)'],
    portless: ['shop/web from 80 to 8081/TCP (declared: 8080/TCP)'],
  });
  expect(asked).toEqual(['services', 'pods']);
});

it('check takes 20 requests for 10,000 Services, and at most 40 for Pods, and says what it did not compare', async () => {
  const names = Array.from({ length: 10_000 }, (_, i) => [`ns-${i % 100}`, `web-${i}`] as const);
  const pods = Array.from({ length: 30_000 }, (_, i) => pod(...names[i % 10_000]!));
  const { asked, read } = await clusterOf(
    names.map(([namespace, name]) => service(namespace, name)),
    () => pods,
  );
  const exported = await read();
  expect([count(asked, 'services'), count(asked, 'pods'), exported.isComplete]).toEqual([20, 40, false]);
  expect(deadEnds(exported)).toMatchObject({ podless: [], portless: { length: 10_000 } });
});
