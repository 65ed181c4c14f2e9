import { expect, it } from 'vitest';
import { onEachServer } from './harness.ts';

onEachServer('a path', (server) => {
  it.each([
    { what: 'a group that nobody serves', path: '/apis/example.com/v1/things', status: 404, type: 'text/plain' },
    { what: 'a resource that nobody serves', path: '/api/v1/things', status: 404, type: 'application/json' },
    { what: 'an object that does not exist', path: '/api/v1/nodes/x', status: 404, type: 'application/json' },
    {
      what: 'a namespaced object outside of a namespace',
      path: '/api/v1/pods/x',
      status: 404,
      type: 'application/json',
    },
    {
      what: 'a cluster-scoped one inside of one',
      path: '/api/v1/namespaces/default/nodes',
      status: 404,
      type: 'application/json',
    },
    {
      what: 'a subresource that the kind lacks',
      path: '/api/v1/namespaces/default/endpoints/x/status',
      status: 404,
      type: 'application/json',
    },
  ])('of $what is $status', async ({ path, status: want, type }) => {
    const reply = await server().send('GET', path);
    expect({ status: reply.status, type: reply.contentType.split(';')[0] }).toEqual({ status: want, type });
  });
});
