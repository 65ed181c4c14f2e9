import type { KubeObject } from '../../src/index.ts';
import { object, paths, service, slice } from './objects.ts';

const owner = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: 'owner',
  uid: '6f0c8f5e-8c1c-4a53-9a8e-0d5b7a3a2c11',
  controller: true,
  blockOwnerDeletion: false,
};

const metadata = {
  labels: { b: '2', a: '1' },
  annotations: { 'example.com/note': 'grüß Gott' },
  finalizers: ['example.com/wait'],
};

const targetRef = { kind: 'Pod', namespace: 'some', name: 'web-0', uid: '6f0c8f5e-8c1c-4a53-9a8e-0d5b7a3a2c12' };

/** One object of a kind, with one of everything that the embedded server can put into protobuf. */
export type FullObject = {
  /** As fixtures are called. */
  readonly name: string;
  /** The resource's plural name. */
  readonly resource: string;
  readonly path: (namespace: string) => string;
  readonly object: KubeObject;
};

export const fullObjects: readonly FullObject[] = [
  {
    name: 'service',
    resource: 'services',
    path: paths.services,
    object: service(
      'full',
      {
        type: 'NodePort',
        selector: { app: 'web', tier: 'front' },
        ports: [
          { name: 'http', port: 80, targetPort: 'web', appProtocol: 'kubernetes.io/h2c', nodePort: 30_080 },
          { name: 'dns', protocol: 'UDP', port: 53, targetPort: 5353 },
        ],
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 600 } },
        publishNotReadyAddresses: true,
        externalIPs: ['198.51.100.1'],
        ipFamilyPolicy: 'PreferDualStack',
        internalTrafficPolicy: 'Local',
        externalTrafficPolicy: 'Local',
        trafficDistribution: 'PreferClose',
      },
      { ...metadata, ownerReferences: [owner] },
    ),
  },
  {
    name: 'headless-service',
    resource: 'services',
    path: paths.services,
    object: service('full-headless', { clusterIP: 'None' }),
  },
  {
    name: 'external-name',
    resource: 'services',
    path: paths.services,
    object: service('full-name', { type: 'ExternalName', externalName: 'example.com' }),
  },
  {
    name: 'endpoint-slice',
    resource: 'endpointslices',
    path: paths.slices,
    object: slice(
      'full',
      {
        endpoints: [
          {
            addresses: ['198.51.100.1'],
            conditions: { ready: true, serving: true, terminating: false },
            hostname: 'web-0',
            targetRef,
            nodeName: 'n1',
            zone: 'z1',
            hints: { forZones: [{ name: 'z1' }, { name: 'z2' }] },
          },
          { addresses: ['198.51.100.2'], conditions: { ready: false } },
          { addresses: ['198.51.100.3'] },
        ],
        ports: [
          { name: 'http', port: 8080, appProtocol: 'http' },
          { name: 'any', protocol: 'UDP' },
          // The API server accepts it, so every reader must, too.
          { name: 'odd', port: -5 },
        ],
      },
      { ...metadata, ownerReferences: [owner] },
    ),
  },
  {
    name: 'endpoints',
    resource: 'endpoints',
    path: (namespace) => `/api/v1/namespaces/${namespace}/endpoints`,
    object: object(
      'v1 Endpoints',
      'full',
      {
        subsets: [
          {
            addresses: [{ ip: '198.51.100.1', hostname: 'web-0', nodeName: 'n1', targetRef }],
            notReadyAddresses: [{ ip: '198.51.100.2' }],
            ports: [
              { name: 'http', port: 8080, appProtocol: 'http' },
              { name: 'dns', port: 5353, protocol: 'UDP' },
            ],
          },
        ],
      },
      metadata,
    ),
  },
  {
    name: 'node',
    resource: 'nodes',
    path: () => '/api/v1/nodes',
    object: object(
      'v1 Node',
      'full',
      {
        spec: {
          podCIDRs: ['10.4.0.0/24', 'fd00:4::/64'],
          providerID: 'cloud://1',
          unschedulable: true,
          taints: [{ key: 'k', value: 'v', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' }],
        },
        status: {
          capacity: { cpu: '4', memory: '8Gi' },
          allocatable: { cpu: '3500m' },
          conditions: [
            {
              type: 'Ready',
              status: 'True',
              lastHeartbeatTime: '2026-01-01T00:00:01Z',
              lastTransitionTime: '2026-01-01T00:00:00Z',
              reason: 'r',
              message: 'm',
            },
          ],
          addresses: [
            { type: 'InternalIP', address: '192.0.2.1' },
            { type: 'Hostname', address: 'n1' },
          ],
          daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
          nodeInfo: {
            machineID: 'm',
            systemUUID: 's',
            bootID: 'b',
            kernelVersion: '6.1',
            osImage: 'Linux',
            containerRuntimeVersion: 'containerd://2',
            kubeletVersion: 'v1.34.2',
            kubeProxyVersion: '',
            operatingSystem: 'linux',
            architecture: 'amd64',
          },
        },
      },
      metadata,
    ),
  },
  {
    name: 'network-policy',
    resource: 'networkpolicies',
    path: (namespace) => `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`,
    object: object(
      'networking.k8s.io/v1 NetworkPolicy',
      'full',
      {
        spec: {
          podSelector: {
            matchLabels: { tier: 'data', app: 'db' },
            matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a', 'b'] }],
          },
          ingress: [
            {
              ports: [{ port: 5432, endPort: 5440 }, { protocol: 'UDP', port: 'dns' }, { protocol: 'SCTP' }],
              from: [
                { namespaceSelector: { matchLabels: { team: 'shop' } }, podSelector: { matchLabels: { app: 'web' } } },
                { ipBlock: { cidr: '192.0.2.0/24', except: ['192.0.2.1/32'] } },
                { podSelector: {} },
              ],
            },
            {},
          ],
          egress: [{ to: [{ namespaceSelector: { matchExpressions: [{ key: 'k', operator: 'Exists' }] } }] }],
        },
      },
      metadata,
    ),
  },
  {
    name: 'namespace',
    resource: 'namespaces',
    path: () => '/api/v1/namespaces',
    object: object('v1 Namespace', 'full', {}, { labels: metadata.labels, annotations: metadata.annotations }),
  },
];
