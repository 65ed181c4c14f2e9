import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { builtBinary, recipe } from '@kube-semaphore/testkit';
import { fileImage, type ImageSource } from './image-source.ts';

/** The tag is its version, as installers have it: `semaphore link --mcs` reads it. */
const IMAGE = `localhost/coredns:${recipe('coredns').version}`;

const labels = { 'k8s-app': 'kube-dns' };
const name = 'coredns';
const namespace = 'kube-system';

/** The image of CoreDNS. @throws {Error} if it isn't built */
export function dnsImage(): ImageSource {
  return fileImage({ name: IMAGE, entrypoint: ['/coredns'], files: { coredns: builtBinary('coredns') } });
}

/** Lets a new node get the next Pod with these labels. A node that is drained or lost doesn't count. */
export const spreadOverNodes = (matchLabels: Readonly<Record<string, string>>) => ({
  maxSkew: 1,
  topologyKey: 'kubernetes.io/hostname',
  whenUnsatisfiable: 'DoNotSchedule',
  nodeTaintsPolicy: 'Honor',
  labelSelector: { matchLabels },
  matchLabelKeys: ['pod-template-hash'],
});

/**
 * CoreDNS as installers deploy it, two of it on different nodes, with the Service that all Pods send their questions to. One
 * that is deleted answers until all nodes know.
 */
export function dnsManifests(clusterDns: string, corefile: string): readonly KubeObject[] {
  const account = { kind: 'ServiceAccount', name, namespace };
  const container = {
    name,
    image: IMAGE,
    args: ['-conf', '/etc/coredns/Corefile'],
    volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
    readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
    lifecycle: { preStop: { sleep: { seconds: 5 } } },
  };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'system:coredns' },
      rules: [
        { apiGroups: [''], resources: ['services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'system:coredns' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:coredns' },
      subjects: [account],
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { Corefile: corefile } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            serviceAccountName: name,
            priorityClassName: 'system-cluster-critical',
            dnsPolicy: 'Default',
            terminationGracePeriodSeconds: 10,
            topologySpreadConstraints: [spreadOverNodes(labels)],
            volumes: [{ name: 'config', configMap: { name } }],
            containers: [container],
          },
        },
      },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, namespace },
      spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kube-dns', namespace },
      spec: {
        clusterIP: clusterDns,
        selector: labels,
        ports: ['UDP', 'TCP'].map((protocol) => ({ name: `dns-${protocol.toLowerCase()}`, protocol, port: 53 })),
      },
    },
  ];
}
