import type { KubeObject } from '@kube-semaphore/embedded-apiserver';

export type PermissiveCrd = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope?: 'Cluster' | 'Namespaced';
};

/** A definition that accepts every object, as Calico's own do. */
export function permissiveCrd({ group, version, kind, plural, scope = 'Cluster' }: PermissiveCrd): KubeObject {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    // A real API server requires the annotation for definitions under k8s.io.
    metadata: { name: `${plural}.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests' } },
    spec: {
      group,
      scope,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

/** Policies for a whole cluster. */
export const clusterPolicyCrds: readonly KubeObject[] = [
  { kind: 'ClusterNetworkPolicy', version: 'v1alpha2', plural: 'clusternetworkpolicies' },
  { kind: 'AdminNetworkPolicy', version: 'v1alpha1', plural: 'adminnetworkpolicies' },
  { kind: 'BaselineAdminNetworkPolicy', version: 'v1alpha1', plural: 'baselineadminnetworkpolicies' },
].map((each) => permissiveCrd({ group: 'policy.networking.k8s.io', ...each }));
