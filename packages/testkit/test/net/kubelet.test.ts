import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@kube-semaphore/eventually';
import { type Network, startNetwork } from '@kube-semaphore/testnet';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  Kubelet,
  node as nodeObject,
  processRuntime,
  type RealCluster,
  type RunningPod,
  runWorkload,
  startRealCluster,
} from '../../src/index.ts';

const launcher = fileURLToPath(new URL('./pod-program.ts', import.meta.url));

let cluster: RealCluster;
let network: Network;
let kubelet: Kubelet;
let pod: RunningPod;

/** What the program in a Pod says of itself. */
type Report = {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly hostname: string;
  readonly files: Readonly<Record<string, string>>;
  readonly writable: readonly string[];
  readonly run: readonly string[];
  readonly resolver: string;
};

const report = async (from: RunningPod): Promise<Report> => JSON.parse((await from.get(8080, '/')).body) as Report;

const container = {
  name: 'app',
  image: 'registry.example/pod-program:1',
  args: ['-node=$(NODE)', '-ip=$(IP)'],
  env: [
    { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
    { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
  ],
  ports: [{ name: 'http', containerPort: 8080 }],
  readinessProbe: { httpGet: { path: '/', port: 'http' } },
  volumeMounts: [
    { name: 'config', mountPath: '/etc/kube-semaphore/config', readOnly: true },
    { name: 'remote', mountPath: '/etc/kube-semaphore/remotes/c2', readOnly: true },
    { name: 'keys', mountPath: '/var/lib/pod-program' },
  ],
};
const volumes = [
  { name: 'config', configMap: { name: 'app' } },
  { name: 'remote', secret: { secretName: 'app-c2' } },
  { name: 'keys', hostPath: { path: '/var/lib/pod-program', type: 'DirectoryOrCreate' } },
];
const sidecar = {
  name: 'side',
  image: 'pod-program',
  restartPolicy: 'Always',
  command: ['sleep', '1000'],
  startupProbe: { exec: { command: ['test', '-e', '/proc/self'] } },
};
const labels = { app: 'app' };
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'app', namespace: 'default' },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { serviceAccountName: 'app', initContainers: [sidecar], containers: [container], volumes },
    },
  },
};

beforeAll(async () => {
  [cluster, network] = await Promise.all([startRealCluster({ name: 'c1' }), startNetwork(['n1'])]);
  const { admin } = cluster;
  const node = network.node('n1');
  const objects = {
    '/api/v1/nodes': nodeObject({ name: 'n1', internalIPs: [node.ipv4] }),
    '/api/v1/namespaces/default/serviceaccounts': {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'app' },
    },
    '/api/v1/namespaces/default/configmaps': {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'app' },
      data: { 'config.json': '{}' },
    },
    '/api/v1/namespaces/default/secrets': {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'app-c2' },
      stringData: { token: 't', 'ca.crt': 'c' },
    },
  };
  for (const [path, object] of Object.entries(objects)) await admin.create(path, object);
  const apiPorts = [Number(new URL(cluster.url).port)];
  const runtime = processRuntime({ 'pod-program': { launcher } });
  kubelet = new Kubelet({
    cluster,
    nodeName: 'n1',
    node,
    runtime,
    nextIps: () => ['10.4.1.2'],
    apiPorts,
    clusterDns: '10.96.0.10',
    dir: join(cluster.dir, 'n1'),
  });
  [pod] = (await runWorkload(deployment, [kubelet])) as [RunningPod];
  await pod.ready();
});
afterAll(async () => {
  await kubelet.stop(0);
  await network.stop();
  await cluster.stop();
});

it('gives a program its arguments, variables, volumes, name and resolver', async () => {
  const { args, env, hostname, files, writable, run, resolver } = await report(pod);
  expect(args).toEqual(['-node=n1', '-ip=10.4.1.2']);
  expect(env).toMatchObject({
    FROM_LAUNCHER: 'yes',
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: new URL(cluster.url).port,
  });
  expect(hostname).toBe('app-0');
  expect(files).toEqual({
    '/etc/kube-semaphore/config/config.json': '{}',
    '/etc/kube-semaphore/remotes/c2/ca.crt': 'c',
    '/etc/kube-semaphore/remotes/c2/token': 't',
  });
  expect(writable).toEqual(['/var/lib/pod-program']);
  // The node's own has a folder for wireguard-go's sockets.
  expect(run).toContain('secrets');
  expect(run).not.toContain('wireguard');
  expect(resolver).toBe(
    'search default.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n',
  );
});

it('leaves the files of this machine as they are', () => {
  expect(['/etc/kube-semaphore/config', '/var/lib/pod-program'].filter((path) => existsSync(path))).toEqual([]);
});

it('gives it a token that names the Pod and its node, by which the API server can be reached', async () => {
  const folder = '/var/run/secrets/kubernetes.io/serviceaccount';
  const token = await pod.container('app').exec('cat', [`${folder}/token`]);
  const { status } = await cluster.admin.create('/apis/authentication.k8s.io/v1/tokenreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token },
  });
  expect(status).toMatchObject({
    user: {
      username: 'system:serviceaccount:default:app',
      extra: { 'authentication.kubernetes.io/node-name': ['n1'], 'authentication.kubernetes.io/pod-name': ['app-0'] },
    },
  });
  expect(await pod.container('app').exec('cat', [`${folder}/namespace`])).toBe('default');
  const ask = `curl --silent --cacert ${folder}/ca.crt --header "Authorization: Bearer $(cat ${folder}/token)"`;
  const answer = await pod
    .container('app')
    .exec('sh', ['-c', `${ask} "https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT/api/v1/nodes"`]);
  expect((JSON.parse(answer) as { message: string }).message).toMatch(
    /^nodes is forbidden: User "system:serviceaccount:default:app" cannot list/,
  );
});

it('says that the Pod is ready, and starts a container again that ends', async () => {
  const { status } = await cluster.admin.get('/api/v1/namespaces/default/pods/app-0');
  expect(status).toMatchObject({ podIP: '10.4.1.2', conditions: [{ type: 'Ready', status: 'True' }] });
  const app = pod.container('app');
  expect((await pod.get(8080, '/end')).status).toBe(0);
  await eventually(
    () => app.restarts,
    (restarts) => restarts > 0,
  );
  await pod.ready();
  expect(pod.container('side').restarts).toBe(0);
});

it('deletes a Pod with all that it runs', async () => {
  await pod.delete();
  expect(await cluster.admin.request('GET', '/api/v1/namespaces/default/pods/app-0')).toMatchObject({ status: 404 });
  expect((await pod.get(8080, '/')).status).toBe(0);
});
