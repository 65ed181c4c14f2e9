import { createServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { contextsOf } from '../src/clusters/contexts.ts';
import { LinkApi } from '../src/link/apply/api.ts';
import { certificate, kubeconfigOf, startListening } from './support/api-server.ts';

type Received = { readonly method: string | undefined; readonly url: string | undefined; readonly body: string };

const kinds = {
  networkpolicies: 'NetworkPolicy',
  customresourcedefinitions: 'CustomResourceDefinition',
  clusterroles: 'ClusterRole',
};

/** A link to an API server that has all kinds in each group but one, and no objects until they are applied. */
async function linkToServer() {
  const received: Received[] = [];
  const server = createServer(certificate, (request, response) => {
    const { method, url = '' } = request;
    void text(request).then((body) => {
      received.push({ method, url, body });
      const isGroup = url.endsWith('/v1');
      const isMissing = url.includes('absent.example') || (method === 'GET' && !isGroup);
      const resources = Object.entries(kinds).map(([name, kind]) => ({
        name,
        singularName: '',
        kind,
        namespaced: kind === 'NetworkPolicy',
        verbs: [],
      }));
      const answer = isGroup ? { resources } : { metadata: { resourceVersion: '1' } };
      response
        .writeHead(isMissing ? 404 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify(isMissing ? { kind: 'Status', message: 'not found' } : answer));
    });
  });
  const kubeconfig = await kubeconfigOf({ c1: `https://127.0.0.1:${await startListening(server)}/prefix` }, 'c1');
  const [context] = await contextsOf({ kubeconfig });
  return { received, api: new LinkApi(context!, { signal: new AbortController().signal }) };
}

it.each([
  {
    name: 'NetworkPolicy',
    path: '/prefix/apis/networking.k8s.io/v1/namespaces/default/networkpolicies/a',
    object: {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'a', namespace: 'default', labels: { b: 'c' } },
      spec: { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }], fieldOfTomorrow: 1 },
    },
  },
  {
    name: 'CustomResourceDefinition',
    path: '/prefix/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a',
    object: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'a' },
      spec: { schema: { type: 'object', default: {}, not: {}, 'x-kubernetes-map-type': 'atomic' } },
    },
  },
  {
    name: 'ClusterRole with capitals',
    path: '/prefix/apis/rbac.authorization.k8s.io/v1/clusterroles/semaphore%3AReader',
    object: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'semaphore:Reader' },
      rules: [],
    },
  },
])('applies a $name with all its fields, also those that client-node does not know', async ({ path, object }) => {
  const { received, api } = await linkToServer();
  expect(await api.apply(object)).toBe('created');
  const { method, url, body } = received.at(-1)!;
  expect([method, url]).toEqual(['PATCH', `${path}?fieldManager=semaphore-link&force=true`]);
  expect(JSON.parse(body)).toEqual(object);
});

it('asks once for the kinds of a group', async () => {
  const { received, api } = await linkToServer();
  for (const name of ['a', 'b'])
    await api.apply({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name } });
  expect(received.map(({ method }) => method)).toEqual(['GET', 'GET', 'PATCH', 'GET', 'PATCH']);
});

it.each(['absent.example/v1', 'other.example/v1'])(
  'has a sentence for a kind that %s does not have',
  async (apiVersion) => {
    const { api } = await linkToServer();
    await expect(api.apply({ apiVersion, kind: 'Foo', metadata: { name: 'a' } })).rejects.toThrow(
      new Error(`c1: Foo a can't be applied: the API server has no kind Foo of ${apiVersion} (404)`),
    );
  },
);
