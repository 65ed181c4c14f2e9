import { insert } from './verbs/create.ts';
import { apiVersion } from './kinds/resources.ts';
import type { Storage } from './storage/storage.ts';
import type { KubeObject } from './test-cluster.ts';

/** The objects of a new cluster: the namespaces that always exist, and the role cluster-admin. */
const initialObjects: readonly KubeObject[] = [
  ...['default', 'kube-system', 'kube-public', 'kube-node-lease'].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  })),
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'cluster-admin' },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  },
];

/** Fills an empty cluster. */
export function bootstrap(storage: Storage): void {
  const serviceCidr: KubeObject = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name: 'kubernetes' },
    spec: { cidrs: storage.clusterIps.ranges },
  };
  for (const object of [...initialObjects, serviceCidr]) seed(storage, object);
}

/** Stores a new object with its status, without a request. @throws {Error} for a kind that isn't served */
export function seed(storage: Storage, object: KubeObject): void {
  const resource = storage.resources.find(
    (each) => each.kind === object.kind && apiVersion(each) === object.apiVersion,
  );
  if (!resource) throw new Error(`no resource for ${object.apiVersion} ${object.kind}`);
  const { status } = object;
  insert(storage, status === undefined ? resource : { ...resource, initialStatus: status }, object);
}
