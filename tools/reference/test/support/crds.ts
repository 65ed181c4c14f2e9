import { globalNetworkSetCrd, type KubeObject } from '@kube-semaphore/testkit';

const group = 'projectcalico.org';

/** What Calico's API server serves, as far as the pages need it: sets as they are, and of policies and pools what anybody writes. */
export const calicoCrds: readonly KubeObject[] = [
  globalNetworkSetCrd(group),
  crdOf({ kind: 'NetworkPolicy', plural: 'networkpolicies', scope: 'Namespaced' }),
  crdOf({ kind: 'GlobalNetworkPolicy', plural: 'globalnetworkpolicies', scope: 'Cluster' }),
  crdOf({ kind: 'IPPool', plural: 'ippools', scope: 'Cluster' }),
];

function crdOf({ kind, plural, scope }: { readonly kind: string; readonly plural: string; readonly scope: 'Namespaced' | 'Cluster' }): KubeObject {
  const spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [{ name: 'v3', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
    },
  };
}
