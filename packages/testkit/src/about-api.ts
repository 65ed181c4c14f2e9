import type { KubeObject } from '@kube-semaphore/embedded-apiserver';

/** The part of the About API (KEP-2149) that these tests need. */
export const clusterPropertyCrd: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'clusterproperties.about.k8s.io',
    // A real API server requires this for definitions under k8s.io.
    annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/enhancements/issues/2149' },
  },
  spec: {
    group: 'about.k8s.io',
    scope: 'Cluster',
    names: {
      kind: 'ClusterProperty',
      listKind: 'ClusterPropertyList',
      plural: 'clusterproperties',
      singular: 'clusterproperty',
    },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { value: { type: 'string' } } } },
          },
        },
      },
    ],
  },
};

export const clusterPropertiesPath = '/apis/about.k8s.io/v1beta1/clusterproperties';

/** The id of a cluster in its ClusterSet. */
export const clusterProperty = (value: string): KubeObject => ({
  apiVersion: 'about.k8s.io/v1beta1',
  kind: 'ClusterProperty',
  metadata: { name: 'cluster.clusterset.k8s.io' },
  spec: { value },
});
