import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { endpointSlice, service } from '@kube-semaphore/testkit';
import type { Backend, RemoteService } from './catalog.ts';

/** The resources that have a Service's endpoints. */
export const sourceKinds = ['endpoints', 'endpointslices'] as const;
export type SourceKind = (typeof sourceKinds)[number];

/** An object, and the collection that it is in. */
export type Located = { readonly collection: string; readonly object: KubeObject };

/** The label of all Services, and of their slices or Endpoints. */
export const selector = 'bench.example/mirror=true';

/** kube-controller-manager's default of `--max-endpoints-per-slice`. */
const MOST_IN_SLICE = 100;
const TIME = '2026-01-01T00:00:00Z';

const [label = '', value = ''] = selector.split('=');
const labels = { app: 'shop', [label]: value };

/** The Service of a source. */
export function serviceOf({ namespace, name }: RemoteService): Located {
  return { collection: `/api/v1/namespaces/${namespace}/services`, object: service({ namespace, name, labels }) };
}

/** The number of slices that Kubernetes makes for these endpoints. */
export function slicesFor(endpoints: number): number {
  return Math.ceil(endpoints / MOST_IN_SLICE);
}

/**
 * Its endpoints as Kubernetes' controllers write them, in one object or more.
 *
 * @param uid of the Service
 */
export function sourceObjects(kind: SourceKind, source: RemoteService, uid: string): Located[] {
  return kind === 'endpoints' ? [endpointsOf(source)] : slicesOf(source, uid);
}

/** The index in `sourceObjects` of a backend. */
export function objectWith(kind: SourceKind, place: number): number {
  return kind === 'endpoints' ? 0 : Math.floor(place / MOST_IN_SLICE);
}

/** As the endpointslice controller writes them, with numbers instead of random names. */
function slicesOf({ namespace, name, backends }: RemoteService, uid: string): Located[] {
  return Array.from({ length: slicesFor(backends.length) }, (_, index) => {
    const object = endpointSlice({
      namespace,
      name: `${name}-s${index}`,
      service: name,
      labels,
      endpoints: backends.slice(index * MOST_IN_SLICE, (index + 1) * MOST_IN_SLICE).map((backend) => ({
        addresses: [backend.address],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: backend.nodeName,
        zone: backend.zone,
        targetRef: targetRef(namespace, backend),
      })),
    });
    const metadata = {
      ...object.metadata,
      generateName: `${name}-`,
      annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': TIME },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true }],
    };
    return {
      collection: `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
      object: { ...object, metadata },
    };
  });
}

/** As the endpoints controller writes it. */
function endpointsOf({ namespace, name, backends }: RemoteService): Located {
  const addresses = backends.map((backend) => {
    return { ip: backend.address, nodeName: backend.nodeName, targetRef: targetRef(namespace, backend) };
  });
  const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': TIME };
  const object = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      namespace,
      name,
      labels: { ...labels, 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
      annotations,
    },
    subsets: [{ addresses, ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] }],
  };
  return { collection: `/api/v1/namespaces/${namespace}/endpoints`, object };
}

/** All of one length, as real UIDs are. */
const targetRef = (namespace: string, { pod }: Backend) => {
  return { kind: 'Pod', namespace, name: pod, uid: `5d3f0c1a-9b7e-4c52-8f6d-${pod.slice(-7).padStart(12, '0')}` };
};
