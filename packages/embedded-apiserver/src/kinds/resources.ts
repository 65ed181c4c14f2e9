import { endpointSlice } from '../protobuf/endpoint-slice.ts';
import { endpoints } from '../protobuf/endpoints.ts';
import { namespace } from '../protobuf/namespace.ts';
import { networkPolicy } from '../protobuf/network-policy.ts';
import { node } from '../protobuf/node.ts';
import { pod } from '../protobuf/pod.ts';
import type { Message } from '../protobuf/schema.ts';
import { service } from '../protobuf/service.ts';
import type { Schema } from './structural-schema.ts';
import type { KubeObject } from '../test-cluster.ts';

/** One kind in one group and version, and the rules for writing its objects. */
export type Resource = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  /** The verbs that it supports. */
  readonly verbs: readonly string[];
  /** Defined by a CustomResourceDefinition. */
  readonly custom: boolean;
  /** Without a table, the kind is served as JSON only. */
  readonly protobuf?: Message;
  /** The schema of a custom resource. */
  readonly schema?: Schema;
  /** Field selectors beyond metadata.name and metadata.namespace. */
  readonly fields?: Readonly<Record<string, (object: KubeObject) => string>>;
  /** The pattern for names. */
  readonly names: 'subdomain' | 'label' | 'service' | 'path';
  /** A PUT without resourceVersion overwrites the object; otherwise it is refused. */
  readonly unconditionalUpdate: boolean;
  /** A PUT on a name that doesn't exist creates the object. */
  readonly createOnUpdate: boolean;
  /** Each change of the spec increments metadata.generation. */
  readonly counted: boolean;
  /** Status is written through /status only. */
  readonly statusSubresource: boolean;
  /** The status of each new object; if absent, the client's status is kept. */
  readonly initialStatus?: unknown;
};

/** `v1`, or `apps/v1`. */
export const apiVersion = ({ group, version }: { group: string; version: string }): string =>
  group === '' ? version : `${group}/${version}`;

const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

type Traits = Partial<Omit<Resource, 'initialStatus'>> & { initialStatus?: unknown };

function builtIn(gvk: string, plural: string, traits: Traits): Resource {
  const [groupVersion = '', kind = ''] = gvk.split(' ');
  const [version = '', group = ''] = groupVersion.split('/').toReversed();
  return {
    group,
    version,
    kind,
    plural,
    singular: kind.toLowerCase(),
    shortNames: [],
    namespaced: true,
    verbs: allVerbs,
    custom: false,
    names: 'subdomain',
    unconditionalUpdate: true,
    createOnUpdate: false,
    counted: false,
    statusSubresource: false,
    ...traits,
  };
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');
const part = (object: KubeObject, name: 'spec' | 'status') => (object[name] ?? {}) as Record<string, unknown>;

const podFields: Resource['fields'] = {
  'status.phase': (object) => text(part(object, 'status')['phase']),
  'spec.nodeName': (object) => text(part(object, 'spec')['nodeName']),
  'spec.hostNetwork': (object) => String(part(object, 'spec')['hostNetwork'] === true),
};

const rbac = { names: 'path', createOnUpdate: true } as const;

/** The built-in kinds; the update rules are those of the kinds' strategies in kubernetes/pkg/registry. */
export const builtIns: readonly Resource[] = [
  builtIn('v1 Pod', 'pods', {
    shortNames: ['po'],
    protobuf: pod,
    fields: podFields,
    counted: true,
    statusSubresource: true,
    initialStatus: { phase: 'Pending', qosClass: 'BestEffort' },
  }),
  builtIn('v1 Service', 'services', {
    shortNames: ['svc'],
    protobuf: service,
    names: 'service',
    createOnUpdate: true,
    statusSubresource: true,
    initialStatus: { loadBalancer: {} },
  }),
  builtIn('v1 Endpoints', 'endpoints', { shortNames: ['ep'], protobuf: endpoints, createOnUpdate: true }),
  builtIn('discovery.k8s.io/v1 EndpointSlice', 'endpointslices', { protobuf: endpointSlice, counted: true }),
  builtIn('v1 Node', 'nodes', { shortNames: ['no'], protobuf: node, namespaced: false, statusSubresource: true }),
  builtIn('v1 Namespace', 'namespaces', {
    shortNames: ['ns'],
    protobuf: namespace,
    namespaced: false,
    names: 'label',
    verbs: allVerbs.filter((verb) => verb !== 'deletecollection'),
    statusSubresource: true,
    initialStatus: { phase: 'Active' },
  }),
  builtIn('networking.k8s.io/v1 NetworkPolicy', 'networkpolicies', {
    shortNames: ['netpol'],
    protobuf: networkPolicy,
    counted: true,
  }),
  builtIn('networking.k8s.io/v1 ServiceCIDR', 'servicecidrs', { namespaced: false, statusSubresource: true }),
  builtIn('v1 Event', 'events', { shortNames: ['ev'], createOnUpdate: true }),
  builtIn('v1 ConfigMap', 'configmaps', { shortNames: ['cm'] }),
  builtIn('v1 ServiceAccount', 'serviceaccounts', { shortNames: ['sa'] }),
  builtIn('coordination.k8s.io/v1 Lease', 'leases', { createOnUpdate: true, unconditionalUpdate: false }),
  builtIn('rbac.authorization.k8s.io/v1 Role', 'roles', rbac),
  builtIn('rbac.authorization.k8s.io/v1 RoleBinding', 'rolebindings', rbac),
  builtIn('rbac.authorization.k8s.io/v1 ClusterRole', 'clusterroles', { ...rbac, namespaced: false }),
  builtIn('rbac.authorization.k8s.io/v1 ClusterRoleBinding', 'clusterrolebindings', { ...rbac, namespaced: false }),
  builtIn('apiextensions.k8s.io/v1 CustomResourceDefinition', 'customresourcedefinitions', {
    shortNames: ['crd', 'crds'],
    namespaced: false,
    unconditionalUpdate: false,
    counted: true,
    statusSubresource: true,
  }),
];

type CrdSpec = {
  group: string;
  scope: 'Namespaced' | 'Cluster';
  names: { plural: string; singular?: string; kind: string; shortNames?: string[] };
  versions: {
    name: string;
    served: boolean;
    subresources?: { status?: object };
    schema?: { openAPIV3Schema?: Schema };
  }[];
};

/** The resources that a CustomResourceDefinition makes, one per served version. */
export function customResources(crd: KubeObject): Resource[] {
  const { group, scope, names, versions } = crd['spec'] as CrdSpec;
  return versions
    .filter(({ served }) => served)
    .map((version) => ({
      group,
      version: version.name,
      kind: names.kind,
      plural: names.plural,
      singular: names.singular ?? names.kind.toLowerCase(),
      shortNames: names.shortNames ?? [],
      namespaced: scope === 'Namespaced',
      verbs: allVerbs,
      custom: true,
      names: 'subdomain',
      unconditionalUpdate: false,
      createOnUpdate: false,
      counted: true,
      statusSubresource: version.subresources?.status !== undefined,
      ...(version.schema?.openAPIV3Schema && { schema: version.schema.openAPIV3Schema }),
    }));
}
