import { describe, expect, it } from 'vitest';
import { isTrue, requestInfo } from './request-info.ts';

describe('requestInfo', () => {
  it.each([
    { request: 'GET /api/v1/pods', want: 'list .v1.pods' },
    { request: 'GET /api/v1/pods?watch=1', want: 'watch .v1.pods' },
    { request: 'GET /api/v1/pods?watch=false', want: 'list .v1.pods' },
    { request: 'GET /api/v1/namespaces/a/pods', want: 'list .v1.pods in a' },
    { request: 'GET /api/v1/namespaces/a/pods/b', want: 'get .v1.pods in a named b' },
    { request: 'PUT /api/v1/namespaces/a/pods/b/status', want: 'update .v1.pods/status in a named b' },
    { request: 'GET /api/v1/namespaces', want: 'list .v1.namespaces' },
    { request: 'GET /api/v1/namespaces/a', want: 'get .v1.namespaces in a named a' },
    { request: 'PATCH /api/v1/namespaces/a/status', want: 'patch .v1.namespaces/status in a named a' },
    { request: 'POST /apis/apps.example/v2/things', want: 'create apps.example.v2.things' },
    { request: 'DELETE /apis/apps.example/v2/things/x', want: 'delete apps.example.v2.things named x' },
    { request: 'DELETE /apis/apps.example/v2/things', want: 'deletecollection apps.example.v2.things' },
    { request: 'GET /api/v1/pods?fieldSelector=metadata.name%3Dx', want: 'list .v1.pods named x' },
    { request: 'GET /api/v1/nodes/a%2Fb', want: 'get .v1.nodes named a/b' },
    { request: 'GET /version', want: 'get /version' },
    { request: 'GET /apis/apps.example/v2', want: 'get /apis/apps.example/v2' },
    { request: 'POST /api/v1/', want: 'post /api/v1/' },
  ])('reads $request', ({ request, want }) => {
    const [method = '', url = ''] = request.split(' ');
    const { verb, path, target } = requestInfo(method, url);
    const subject =
      target && `${target.group}.${target.version}.${target.resource}${target.subresource && `/${target.subresource}`}`;
    const where = target?.namespace ? ` in ${target.namespace}` : '';
    const name = target?.name ? ` named ${target.name}` : '';
    expect(`${verb} ${subject ?? path}${where}${name}`).toBe(want);
  });
});

describe('isTrue', () => {
  it.each(['', '1', 't', 'true', 'True', 'TRUE'])('is true for %j', (value) => expect(isTrue(value)).toBe(true));
  it.each([null, '0', 'false', 'no'])('is false for %j', (value) => expect(isTrue(value)).toBe(false));
});
