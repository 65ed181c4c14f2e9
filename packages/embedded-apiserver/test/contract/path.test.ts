import { expect, it } from 'vitest';
import { onEachServer } from './harness.ts';

onEachServer('a path', (server) => {
  it.each([
    { what: 'an unknown group', path: '/apis/example.com/v1/things', status: 404, type: 'text/plain' },
    { what: 'the group itself, which is unknown', path: '/apis/example.com', status: 404, type: 'text/plain' },
    { what: 'a watch in an unknown group', path: '/apis/example.com/v1/x?watch=1', status: 404, type: 'text/plain' },
    { what: 'an unknown resource', path: '/api/v1/things', status: 404, type: 'application/json' },
    { what: 'an object that does not exist', path: '/api/v1/nodes/x', status: 404, type: 'application/json' },
    {
      what: 'a name with encoded slashes',
      path: '/api/v1/namespaces/default/pods/a%2F..%2F..%2Fpods',
      status: 404,
      type: 'application/json',
    },
    {
      what: 'a namespaced object without a namespace',
      path: '/api/v1/pods/x',
      status: 404,
      type: 'application/json',
    },
    {
      what: 'a cluster-scoped object in a namespace',
      path: '/api/v1/namespaces/default/nodes',
      status: 404,
      type: 'application/json',
    },
    {
      what: 'a subresource that the kind does not have',
      path: '/api/v1/namespaces/default/endpoints/x/status',
      status: 404,
      type: 'application/json',
    },
  ])('of $what is $status', async ({ path, status: want, type }) => {
    const reply = await server().send('GET', path);
    expect({ status: reply.status, type: reply.contentType.split(';')[0] }).toEqual({ status: want, type });
  });

  it('of the signing keys is open to every service account, and the keys are unique to the cluster', async () => {
    const { token } = await server().cluster.account('no-rights', []);
    const asked = { headers: { accept: 'application/jwk-set+json' }, token };
    const reply = await server().send('GET', '/openid/v1/jwks', asked);
    expect([reply.status, reply.contentType.split(';')[0]]).toEqual([200, 'application/jwk-set+json']);
    const { keys } = JSON.parse(reply.body.toString()) as { keys: { kid: string }[] };
    expect(keys.map(({ kid }) => kid)).toEqual([expect.stringMatching(/^[\w-]{20,}$/)]);
  });
});
