import { createServer } from 'node:https';
import { expect, it } from 'vitest';
import { certificate, kubeconfigOf, startApiServer, startListening } from './support/api-server.ts';
import { afterContexts, runHere } from './support/run.ts';

const SERVICES = '/api/v1/namespaces/shop/services';
const serviceOf = (name: string, type: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'shop', name },
  spec: { type },
});
const objects = {
  [`${SERVICES}/web`]: serviceOf('web', 'ClusterIP'),
  [`${SERVICES}/out`]: serviceOf('out', 'ExternalName'),
};
const cluster = { pods: [], objects };
const forbidden = { refusal: 403, message: 'services "web" is forbidden' };

it.each<{
  name: string;
  words: readonly string[];
  served?: typeof cluster | typeof forbidden;
  code?: number;
  want: string;
}>([
  { name: 'no Service', words: [], want: 'name one Service, or use --all-global' },
  { name: 'no namespace', words: ['web'], want: '--namespace is required: that of the Service' },
  {
    name: 'a name with a slash',
    words: ['a/b', '-n', 'shop'],
    want: '"a/b" is not a valid name of a Service or namespace',
  },
  {
    name: 'a label without a value',
    words: ['web', '-n', 'shop', '--exported-label', 'team'],
    want: '--exported-label team must be key=value',
  },
  {
    name: 'a Service that does not exist',
    words: ['db', '-n', 'shop'],
    want: 'c1 has no Service shop/db: create it, or use --importer for a cluster that only imports',
  },
  {
    name: 'a Service of type ExternalName',
    words: ['out', '-n', 'shop'],
    want: "c1: Service shop/out has the type ExternalName, which can't be exported",
  },
  {
    name: 'a cluster without the kinds',
    words: ['web', '-n', 'shop'],
    code: 1,
    want: 'c1: the cluster has no ServiceExports: kubectl apply --server-side -k deploy/service-mirror/mcs',
  },
  {
    name: 'a user without the right',
    words: ['web', '-n', 'shop'],
    served: forbidden,
    code: 1,
    want: 'c1: the user "c1-admin" lacks a right: ask an administrator for it: services "web" is forbidden',
  },
  {
    name: 'global Services that nothing selects',
    words: ['--all-global'],
    want: 'no semaphore-service-mirror says what selects global Services: use --all-global with a label selector',
  },
  {
    name: 'all global Services of a namespace',
    words: ['--all-global', '-n', 'shop'],
    want: '--all-global is for all namespaces: omit --namespace',
  },
])('export refuses $name in one sentence', async ({ words, served = cluster, code = 2, want }) => {
  const kubeconfig = await kubeconfigOf({ c1: await startApiServer(served) }, 'c1');
  const ended = afterContexts(await runHere({}, 'export', ...words, '--kubeconfig', kubeconfig));
  expect(ended).toEqual({ code, stdout: '', stderr: `semaphore: ${want}\n` });
});

it('export shows what it wrote beside a cluster that allows a dry run only', async () => {
  const exportOf = { apiVersion: 'multicluster.x-k8s.io/v1beta1', kind: 'ServiceExport', metadata: { name: 'web' } };
  const server = async (allowed: RegExp): Promise<string> => {
    const https = createServer(certificate, ({ method, url = '' }, response) => {
      const found = method === 'PATCH' ? exportOf : url === `${SERVICES}/web` && objects[url];
      const isRefused = method === 'PATCH' && !allowed.test(url);
      response.statusCode = isRefused ? 500 : found ? 200 : 404;
      response.end(JSON.stringify(isRefused ? { message: 'the disk is full' } : found || {}));
    });
    return `https://127.0.0.1:${await startListening(https)}`;
  };
  const kubeconfig = await kubeconfigOf({ c1: await server(/./), c2: await server(/dryRun=All/) });
  const contexts = ['--context=c1', '--context=c2', '--wait=0s'];
  const words = ['web', '-n', 'shop', '--kubeconfig', kubeconfig, ...contexts];
  const { code, stdout } = afterContexts(await runHere({}, 'export', ...words));
  const lines = stdout.split('\n').map((line) => line.replaceAll(/ +/g, ' '));
  expect([code, lines.slice(1, 3)]).toEqual([1, ['shop/web c1 created - - -', 'shop/web c2 - - - -']]);
  expect(lines).toContain('✗ c2: shop/web: c2: the API server refuses ServiceExport shop/web: the disk is full (500)');
});
