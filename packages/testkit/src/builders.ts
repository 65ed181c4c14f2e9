import type { KubeObject, TestClient } from '@kube-semaphore/embedded-apiserver';
import { fieldsV1 } from './managed-fields.ts';

/** The options of a pod. All other fields have realistic values. */
export type PodOptions = {
  readonly name: string;
  /** Default: default. */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** IPv4, IPv6 or both, the primary one first. Default: none yet. */
  readonly ips?: readonly string[];
  /** Default: Running with ips, Pending without. */
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  readonly hostNetwork?: boolean;
  /** Default: none. A DELETE with a grace period only marks a pod on a node. */
  readonly nodeName?: string;
  /**
   * Size of its JSON with managed fields, for a pod as in production: two containers of 30 variables each,
   * about 15,000. At least 14,000. Default: a minimal pod.
   */
  readonly sizeBytes?: number;
};

/** The field manager of these objects: kube-apiserver derives it from the User-Agent header. */
const MANAGER = 'kube-semaphore-builders';
const VARIABLES = 30;
const TIME = '2026-01-01T00:00:00Z';

/** A pod with its status. Creating it takes two requests: see {@link createPod}. */
export function pod(options: PodOptions): KubeObject {
  const { sizeBytes } = options;
  if (sizeBytes === undefined) return podWith(options, [{ name: 'app', image: 'registry.example/app:1' }]);
  const lean = JSON.stringify(largePod(options, '')).length;
  return largePod(options, 'x'.repeat(Math.max(0, Math.round((sizeBytes - lean) / (2 * VARIABLES)))));
}

/** Creates a pod with its status, in two requests because kube-apiserver ignores the status of a new pod. */
export async function createPod(client: TestClient, object: KubeObject): Promise<KubeObject> {
  const path = `/api/v1/namespaces/${object.metadata.namespace ?? 'default'}/pods`;
  const headers = { 'user-agent': MANAGER };
  await expectSuccess(client.request('POST', path, object, { headers }));
  const { status } = object;
  return expectSuccess(client.request('PATCH', `${path}/${object.metadata.name}/status`, { status }, { headers }));
}

/** Deletes a pod at once, even one on a node. */
export async function deletePod(
  client: TestClient,
  { name, namespace = 'default' }: KubeObject['metadata'],
): Promise<void> {
  await client.delete(`/api/v1/namespaces/${namespace}/pods/${name}?gracePeriodSeconds=0`);
}

async function expectSuccess(pending: ReturnType<TestClient['request']>): Promise<KubeObject> {
  const { status, body } = await pending;
  if (status >= 300) throw new Error(`createPod: ${status} ${String(body['message'])}`);
  return body;
}

function podWith(
  { name, namespace = 'default', labels = {}, ...options }: PodOptions,
  containers: object[],
): KubeObject {
  const { ips = [], phase = ips.length > 0 ? 'Running' : 'Pending', hostNetwork = false, nodeName } = options;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { ...labels } },
    spec: { containers, ...(hostNetwork && { hostNetwork }), ...(nodeName !== undefined && { nodeName }) },
    status: {
      phase,
      qosClass: 'BestEffort',
      ...(ips.length > 0 && { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }),
    },
  };
}

function largePod(options: PodOptions, padding: string): KubeObject {
  const { name } = options;
  const containers = ['app', 'sidecar'].map((container) => largeContainer(container, padding));
  const object = podWith({ ...options, labels: { 'pod-template-hash': '5d4f8c7b9d', ...options.labels } }, containers);
  const spec = { ...(object['spec'] as object), ...specDefaults };
  const status = { ...(object['status'] as object), ...detailedStatus(options, containers) };
  const metadata = {
    ...object.metadata,
    generateName: `${name}-`,
    annotations: { 'kubernetes.io/config.source': 'api', 'prometheus.io/scrape': 'true', 'prometheus.io/port': '8080' },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name,
        uid: '6f0c8f5e-8c1c-4a53-9a8e-0d5b7a3a2c11',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  };
  const entry = { manager: MANAGER, operation: 'Update', apiVersion: 'v1', time: TIME, fieldsType: 'FieldsV1' };
  const managedFields = [
    { ...entry, fieldsV1: { ...specFields, ...fieldsV1({ metadata: { labels: object.metadata.labels } }) } },
    { ...entry, fieldsV1: fieldsV1({ status }), subresource: 'status' },
  ];
  return { ...object, metadata: { ...metadata, managedFields }, spec, status };
}

/** Defaults of kube-apiserver. */
const specDefaults = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  serviceAccountName: 'default',
  serviceAccount: 'default',
  securityContext: {},
  schedulerName: 'default-scheduler',
  tolerations: ['not-ready', 'unreachable'].map((condition) => ({
    key: `node.kubernetes.io/${condition}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  })),
  enableServiceLinks: true,
};

const largeContainer = (name: string, padding: string) => ({
  name,
  image: `registry.example/team/${name}:v1.2.3`,
  env: Array.from({ length: VARIABLES }, (_, index) => ({
    name: `${name.toUpperCase()}_SETTING_${String(index).padStart(2, '0')}`,
    value: `value-${index}-${padding}`,
  })),
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
});

/** Made once, because it is slow, and the fields of all large pods are the same. */
const specFields = fieldsV1({
  spec: { ...specDefaults, containers: ['app', 'sidecar'].map((name) => largeContainer(name, '')) },
});

function detailedStatus({ ips = [] }: PodOptions, containers: readonly { name: string; image: string }[]) {
  if (ips.length === 0) return {};
  const types = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
  return {
    conditions: types.map((type) => ({ type, status: 'True', lastProbeTime: null, lastTransitionTime: TIME })),
    hostIP: '192.0.2.10',
    hostIPs: [{ ip: '192.0.2.10' }],
    startTime: TIME,
    containerStatuses: containers.map(({ name, image }) => ({
      name,
      image,
      imageID: `registry.example/team/${name}@sha256:${'0123456789abcdef'.repeat(4)}`,
      containerID: `containerd://${'fedcba9876543210'.repeat(4)}`,
      state: { running: { startedAt: TIME } },
      lastState: {},
      ready: true,
      started: true,
      restartCount: 0,
    })),
  };
}
