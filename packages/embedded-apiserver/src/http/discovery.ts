import type { Resource } from '../kinds/resources.ts';

/** What /api, /apis, /apis/GROUP and /apis/GROUP/VERSION answer; undefined for other paths and unknown groups. */
export function discover(path: string, resources: readonly Resource[]): object | undefined {
  const [root, ...rest] = path.split('/').filter((part) => part !== '');
  if (root === 'api') {
    if (rest.length === 0) return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
    return rest.length === 1 ? resourceList('', rest[0]!, resources) : undefined;
  }
  if (root !== 'apis') return undefined;
  const [group, version] = rest;
  const names = [...new Set(resources.map((resource) => resource.group))].filter((name) => name !== '');
  if (group === undefined) {
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: names.map((name) => describeGroup(name, resources)) };
  }
  if (!names.includes(group) || rest.length > 2) return undefined;
  if (version !== undefined) return resourceList(group, version, resources);
  return { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group, resources) };
}

function describeGroup(name: string, resources: readonly Resource[]) {
  const versions = new Set(resources.filter(({ group }) => group === name).map(({ version }) => version));
  const described = [...versions].map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: described, preferredVersion: described[0] };
}

function resourceList(group: string, version: string, resources: readonly Resource[]): object | undefined {
  const served = resources.filter((resource) => resource.group === group && resource.version === version);
  if (served.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: served.flatMap(({ plural, singular, namespaced, kind, shortNames, verbs, statusSubresource }) => [
      { name: plural, singularName: singular, namespaced, kind, shortNames, verbs },
      ...(statusSubresource
        ? [{ name: `${plural}/status`, singularName: '', namespaced, kind, verbs: ['get', 'patch', 'update'] }]
        : []),
    ]),
  };
}
