import { globalNetworkSetCrd } from '@kube-semaphore/testkit';
import { beforeAll, expect, it } from 'vitest';
import { onEachServer, read } from './harness.ts';

type ApiResource = {
  name: string;
  singularName: string;
  namespaced: boolean;
  kind: string;
  verbs: string[];
  shortNames?: string[];
};
type Group = { name: string; versions: { groupVersion: string; version: string }[]; preferredVersion: object };

const served = [
  'v1: endpoints events namespaces namespaces/status nodes nodes/status pods pods/status serviceaccounts services ' +
    'services/status',
  'coordination.k8s.io/v1: leases',
  'discovery.k8s.io/v1: endpointslices',
  'networking.k8s.io/v1: networkpolicies',
  'rbac.authorization.k8s.io/v1: clusterrolebindings clusterroles rolebindings roles',
  'apiextensions.k8s.io/v1: customresourcedefinitions customresourcedefinitions/status',
  'projectcalico.org/v3: globalnetworksets',
].map((line) => line.split(': ') as [string, string]);

/** What kubectl uses. The order of verbs doesn't matter. */
const essence = ({ name, singularName, namespaced, kind, verbs, shortNames = [] }: ApiResource) =>
  `${name} (${singularName || '-'}) ${kind}${namespaced ? ', namespaced' : ''}: ` +
  `${verbs.toSorted().join(' ')}; ${shortNames.join(' ')}`;

const all = 'create delete deletecollection get list patch update watch';
const described = [
  `endpoints (endpoints) Endpoints, namespaced: ${all}; ep`,
  `events (event) Event, namespaced: ${all}; ev`,
  'namespaces (namespace) Namespace: create delete get list patch update watch; ns',
  'namespaces/status (-) Namespace: get patch update; ',
  `nodes (node) Node: ${all}; no`,
  'nodes/status (-) Node: get patch update; ',
  `pods (pod) Pod, namespaced: ${all}; po`,
  'pods/status (-) Pod, namespaced: get patch update; ',
  `serviceaccounts (serviceaccount) ServiceAccount, namespaced: ${all}; sa`,
  `services (service) Service, namespaced: ${all}; svc`,
  'services/status (-) Service, namespaced: get patch update; ',
  `leases (lease) Lease, namespaced: ${all}; `,
  `endpointslices (endpointslice) EndpointSlice, namespaced: ${all}; `,
  `networkpolicies (networkpolicy) NetworkPolicy, namespaced: ${all}; netpol`,
  `clusterrolebindings (clusterrolebinding) ClusterRoleBinding: ${all}; `,
  `clusterroles (clusterrole) ClusterRole: ${all}; `,
  `rolebindings (rolebinding) RoleBinding, namespaced: ${all}; `,
  `roles (role) Role, namespaced: ${all}; `,
  `customresourcedefinitions (customresourcedefinition) CustomResourceDefinition: ${all}; crd crds`,
  'customresourcedefinitions/status (-) CustomResourceDefinition: get patch update; ',
  `globalnetworksets (globalnetworkset) GlobalNetworkSet: ${all}; `,
];

onEachServer('discovery', (server) => {
  const get = async <T>(path: string) => read(await server().send('GET', path)) as unknown as T;

  beforeAll(() => server().cluster.defineResource(globalNetworkSetCrd('projectcalico.org')));

  it('lists the groups and their versions', async () => {
    const { groups } = await get<{ groups: Group[] }>('/apis');
    const wanted = served
      .map(([groupVersion]) => groupVersion.split('/'))
      .filter(([, version]) => version !== undefined);
    for (const [name, version] of wanted) {
      const entry = { groupVersion: `${name}/${version}`, version };
      expect(groups.find((group) => group.name === name)).toMatchObject({ versions: [entry], preferredVersion: entry });
      expect(await get(`/apis/${name}`)).toMatchObject({ kind: 'APIGroup', name, versions: [entry] });
    }
    expect(await get('/api')).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
  });

  it('describes the resources', async () => {
    const seen: string[] = [];
    for (const [groupVersion, names] of served) {
      const path = groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`;
      const { kind, resources } = await get<{ kind: string; resources: ApiResource[] }>(path);
      expect(kind).toBe('APIResourceList');
      const wanted = names.split(' ');
      seen.push(
        ...resources
          .filter(({ name }) => wanted.includes(name))
          .map(essence)
          .toSorted(),
      );
    }
    expect(seen).toEqual(described);
  });

  it('returns the version', async () => {
    expect(await get('/version')).toMatchObject({
      major: '1',
      minor: expect.stringMatching(/^\d+$/),
      gitVersion: expect.stringMatching(/^v1\.\d+/),
    });
  });
});
