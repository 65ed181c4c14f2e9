import { apiVersion, type Resource } from '../kinds/resources.ts';

const root = /^\/openapi\/v3$/;
const groupVersion = /^\/openapi\/v3\/(api|apis)\/(.+)$/;

/**
 * The OpenAPI that `kubectl create` needs: it must say that the server validates fields itself. (This server
 * doesn't; it stores unknown fields.)
 */
export function openApi(path: string, resources: readonly Resource[]): object | undefined {
  if (root.test(path)) {
    const names = new Set(
      resources.map((resource) => `${resource.group === '' ? 'api' : 'apis'}/${apiVersion(resource)}`),
    );
    return {
      paths: Object.fromEntries([...names].map((name) => [name, { serverRelativeURL: `/openapi/v3/${name}` }])),
    };
  }
  const [, , wanted] = groupVersion.exec(path) ?? [];
  const served = resources.filter((resource) => apiVersion(resource) === wanted);
  if (served.length === 0) return undefined;
  const paths = served.map(({ group, version, kind, plural }) => {
    const patch = {
      parameters: [{ name: 'fieldValidation', in: 'query' }],
      responses: {},
      'x-kubernetes-group-version-kind': { group, version, kind },
    };
    return [`/${plural}/{name}`, { patch }];
  });
  return { openapi: '3.0.0', info: { title: 'embedded', version: '1' }, paths: Object.fromEntries(paths) };
}
