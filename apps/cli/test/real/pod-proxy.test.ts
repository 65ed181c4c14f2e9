// Real: the status of a Pod goes through an API server's proxy.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { fileURLToPath } from 'node:url';
import {
  bash,
  createPod,
  deployAccount,
  deployComponent,
  endpointSlice,
  globalNetworkSetCrd,
  node,
  pod,
  service,
  spawnProgram,
  startCluster,
} from '@kube-semaphore/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { run } from '../support/run.ts';

const launcher = fileURLToPath(new URL('../../../policy/bin/semaphore-policy.js', import.meta.url));

const kinds = fileURLToPath(new URL('../../../../deploy/service-mirror/mcs', import.meta.url));

/** What is incomplete for a user who may list Pods, and get their status. */
const unread = [
  'ranges-apart',
  'sources-kept',
  'endpoints-agree',
  'allowed-ips-agree',
  'subnets-agree',
  'pods-complete',
  'other-meshes',
  'rights-granted',
  'imports-resolved',
  'dns-rules',
  'dns-answers',
  'exports-answered',
  'mirrors-ready',
  'policies-extended',
  'pools-disabled',
  'sets-filled',
  'sets-unselected',
];

/** An API server's proxy refuses loopback addresses. */
function ownAddress(): string {
  const own = Object.values(networkInterfaces()).flatMap((all = []) => all);
  return own.find(({ family, internal }) => family === 'IPv4' && !internal)!.address;
}

it('reads the status of a Pod through the proxy of a real API server, and what it checks', async () => {
  const cluster = await startCluster({ name: 'c1' });
  onTestFinished(() => cluster.stop());
  await cluster.defineResource(globalNetworkSetCrd('crd.projectcalico.org'));
  const ip = ownAddress();
  const program = spawnProgram(launcher, [
    `-local-kube-config=${cluster.adminKubeconfig}`,
    `-target-kube-config=${cluster.adminKubeconfig}`,
    '-target-cluster-name=c2',
    '-network-policies',
    '-allowed-pod-cidrs=10.4.0.0/16',
    `-listen-address=${ip}:0`,
  ]);
  onTestFinished(async () => void (await program.stop()));
  const { port } = await program.logged('started');
  await program.logged('no label domain chosen yet');
  const ports = [{ name: 'http', containerPort: Number(port) }];
  await createPod(cluster.admin, {
    ...pod({ namespace: 'kube-system', name: 'policy-0', labels: { app: 'semaphore-policy' }, ips: [ip] }),
    spec: { serviceAccountName: 'semaphore-policy', containers: [{ name: 'policy', image: 'policy', ports }] },
  });
  const { kubeconfig } = await cluster.account('operator', [
    { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
    { apiGroups: [''], resources: ['pods/proxy'], verbs: ['get'] },
  ]);
  const { stdout } = await run('status', '--kubeconfig', kubeconfig, '-o', 'json');
  expect(JSON.parse(stdout)).toMatchObject({
    clusters: [{ pods: [{ name: 'policy-0', status: { app: 'semaphore-policy', leader: true } }] }],
    problems: [],
  });

  const { admin } = cluster;
  await admin.create('/api/v1/nodes', node({ name: 'n1', podCIDRs: ['10.2.1.0/24'] }));
  const labels = { 'mirrored-svc': 'true' };
  await admin.create('/api/v1/namespaces/default/services', service({ name: 'web', selector: null, labels }));
  await admin.create('/api/v1/namespaces/default/services', service({ name: 'db', selector: null, labels }));
  await admin.create(
    '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
    endpointSlice({ name: 'web-1', service: 'web', labels, endpoints: ['10.4.1.38'] }),
  );
  await admin.create('/api/v1/namespaces/kube-system/configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'coredns' },
    data: {
      Corefile:
        'clusterset.local {\n  prometheus\n  kubernetes clusterset.local {\n    multicluster clusterset.local\n  }\n}\n',
    },
  });
  const dns = createServer((_, response) => void response.end('process_start_time_seconds 1e+09\n')).listen(0, ip);
  onTestFinished(() => void dns.close());
  await once(dns, 'listening');
  const metrics = { name: 'metrics', containerPort: (dns.address() as AddressInfo).port };
  const server = pod({ namespace: 'kube-system', name: 'coredns-0', labels: { 'k8s-app': 'kube-dns' }, ips: [ip] });
  await createPod(admin, {
    ...server,
    spec: { containers: [{ name: 'coredns', image: 'coredns', ports: [metrics] }] },
    status: { ...(server['status'] as object), conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const app = { app: 'semaphore-policy' };
  const mesh = { 'k8s-app': 'clustermesh-apiserver' };
  for (const [name, labels] of Object.entries({ 'semaphore-policy': app, 'clustermesh-apiserver': mesh }))
    await admin.create('/apis/apps/v1/namespaces/kube-system/deployments', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, labels },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'main' }] } },
      },
    });
  await createFlannel(cluster);
  const before = await check(cluster.adminKubeconfig);
  const limited = await check(kubeconfig);
  expect(limited['reads-allowed']?.findings.map(({ detail }) => detail)).toEqual([
    'c1: you may not list nodes, list deployments, list daemonsets, create subjectaccessreviews, get configmaps, ' +
      'list services, list endpointslices, list networkpolicies, list ippools, list globalnetworksets, ' +
      `list globalnetworkpolicies, so these are incomplete: ${unread.join(', ')}`,
  ]);
  // Each of them is a check.
  expect(Object.keys(limited)).toEqual(expect.arrayContaining(unread));
  expect(before['pods-complete']?.findings).toEqual([
    { severity: 'problem', detail: 'c1: the Deployment kube-system/semaphore-policy has 0 of 2 Pods' },
  ]);
  expect(before['other-meshes']?.findings).toEqual([
    { severity: 'warning', detail: 'c1 also has Cilium ClusterMesh, which may export the same Services' },
  ]);
  expect(before['dns-answers']?.findings).toEqual([
    { severity: 'problem', detail: "c1: the Corefile of kube-system/coredns isn't loaded in kube-system/coredns-0" },
  ]);
  expect(before['sources-kept']?.findings.map(({ detail }) => detail)).toEqual([
    'c1: flannel replaces the address of Pods in packets to 10.4.0.0/16 of c2: ' +
      "Network in net-conf.json of the ConfigMap kube-system/canal-config doesn't have it",
  ]);
  expect(limited['sources-kept']?.findings.map(({ detail }) => detail)).toEqual([
    expect.stringMatching(/^unknown: c1: the user "c1" lacks a right: .* cannot list resource "daemonsets"/) as unknown,
    expect.stringMatching(/^unknown: c1: the user "c1" lacks a right: .* cannot list resource "nodes"/) as unknown,
  ]);
  expect(before['rights-granted']).toMatchObject({ result: 'problem' });
  expect(before['rights-granted']?.findings.map(({ detail }) => detail)).toContain(
    'c1: kube-system/semaphore-policy may not create, get, update leases.coordination.k8s.io in semaphore-policy',
  );
  expect(before['mirrors-ready']?.findings).toEqual([
    { severity: 'warning', detail: 'c1: mirrors without a ready endpoint: default/db' },
  ]);
  expect(before['imports-resolved']?.findings.map(({ detail }) => detail)).toEqual([
    'c1: no serviceimports in multicluster.x-k8s.io/v1alpha1, which CoreDNS reads',
  ]);
  const fine = { result: 'ok', findings: [] };
  const clusters = ['reads-allowed', 'kubernetes-supported', 'clocks-agree', 'credentials-valid', 'ranges-apart'];
  expect(clusters.map((name) => before[name])).toMatchObject(clusters.map(() => fine));

  await deployAccount(cluster, 'policy/base');
  const withoutComponent = await check(cluster.adminKubeconfig);
  expect(withoutComponent['rights-granted']?.findings.map(({ detail }) => detail)).toContain(
    'c1: kube-system/semaphore-policy may not create, delete, list, update, watch networkpolicies.networking.k8s.io',
  );
  await deployComponent(cluster, 'policy/base', 'policy/components/network-policies');
  await bash(`kubectl apply --server-side -k ${kinds}`, cluster);
  const after = await check(cluster.adminKubeconfig);
  expect([after['rights-granted'], after['imports-resolved']]).toMatchObject([fine, fine]);
});

/** As Canal has it, in the namespace that each cluster has. */
async function createFlannel({ admin }: Pick<Awaited<ReturnType<typeof startCluster>>, 'admin'>): Promise<void> {
  await admin.create('/api/v1/namespaces/kube-system/configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'canal-config' },
    data: { 'net-conf.json': '{ "Network": "10.2.0.0/16", "Backend": { "Type": "vxlan" } }' },
  });
  const labels = { 'k8s-app': 'canal' };
  const valueFrom = { fieldRef: { fieldPath: 'metadata.name' } };
  const flannel = {
    name: 'kube-flannel',
    image: 'flannel',
    command: ['/opt/bin/flanneld', '--ip-masq', '--kube-subnet-mgr'],
    env: [{ name: 'POD_NAME', valueFrom }],
  };
  const volumes = [
    { name: 'xtables-lock', hostPath: { path: '/run/xtables.lock' } },
    { name: 'flannel-cfg', configMap: { name: 'canal-config' } },
  ];
  await admin.create('/apis/apps/v1/namespaces/kube-system/daemonsets', {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'canal', labels },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [flannel], volumes } },
    },
  });
}

type Result = { readonly name: string; readonly result: string; readonly findings: readonly { detail: string }[] };

/** The result of each check. */
async function check(kubeconfig: string): Promise<Readonly<Record<string, Result>>> {
  const { stdout } = await run('check', '--kubeconfig', kubeconfig, '-o', 'json');
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly Result[] };
  return Object.fromEntries(checks.map((each) => [each.name, each]));
}
