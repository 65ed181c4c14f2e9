// Real: the CustomResourceDefinitions of Calico, with their validation, and policies as a server stores them.
import { delimiter } from 'node:path';
import { calicoCrds, createPod, goesWithoutEngines, pod, startRealCluster } from '@kube-semaphore/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { runHere } from '../support/run.ts';

const group = 'policy.networking.k8s.io';
const api = `/apis/${group}/v1alpha1`;

async function startWithPod(cluster: string, name: string, ip: string) {
  const { admin, ...started } = await startRealCluster({ name: cluster });
  onTestFinished(() => started.stop());
  await admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  await createPod(admin, pod({ namespace: 'shop', name, ips: [ip], nodeName: 'n1' }));
  return { admin, ...started };
}

it.skipIf(goesWithoutEngines)('explain knows policies for the whole cluster as an API server has them', async () => {
  const [c1, c2] = await Promise.all([startWithPod('c1', 'cart', '10.2.0.7'), startWithPod('c2', 'web', '10.4.0.9')]);
  for (const crd of calicoCrds().filter(({ spec }) => (spec as { group: string }).group === group))
    await c1.defineResource(crd);
  const KUBECONFIG = [c1.adminKubeconfig, c2.adminKubeconfig].join(delimiter);
  const egressHop = async (): Promise<unknown> => {
    const words = ['--from', 'c1/shop/cart', '--to', 'c2/shop/web:8080', '-o', 'json'];
    const { stdout } = await runHere({ KUBECONFIG }, 'explain', ...words);
    const { hops } = JSON.parse(stdout) as { hops: readonly { name: string; result: string; detail: string }[] };
    const hop = hops.find(({ name }) => name === 'egress-policy');
    return `${hop?.result} ${hop?.detail}`;
  };
  const create = (kind: string, plural: string, name: string, spec: object) =>
    c1.admin.create(`${api}/${plural}`, { apiVersion: `${group}/v1alpha1`, kind, metadata: { name }, spec });
  const subject = { namespaces: { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } } };
  const to = [{ networks: ['10.4.0.0/16'] }];
  const flow = 'egress on 8080/TCP';

  expect(await egressHop()).toBe(`ok no policy denies ${flow}`);
  const denyAll = { subject, egress: [{ action: 'Deny', to }] };
  await create('BaselineAdminNetworkPolicy', 'baselineadminnetworkpolicies', 'default', denyAll);
  expect(await egressHop()).toBe(`wrong ${flow} of shop/cart is denied by BaselineAdminNetworkPolicy default, rule 1`);

  const allow = { action: 'Allow', to, ports: [{ portNumber: { port: 8080 } }] };
  const pass = { action: 'Pass', to: [{ namespaces: {} }], ports: [{ namedPort: 'http' }] };
  await create('AdminNetworkPolicy', 'adminnetworkpolicies', 'allow', { priority: 10, subject, egress: [pass, allow] });
  expect(await egressHop()).toBe(`ok ${flow} is allowed by AdminNetworkPolicy allow, rule 2`);

  const nodes = { action: 'Deny', to: [{ nodes: {} }] };
  await create('AdminNetworkPolicy', 'adminnetworkpolicies', 'nodes', { priority: 9, subject, egress: [nodes] });
  expect(await egressHop()).toBe(
    `unknown ${flow} of shop/cart: AdminNetworkPolicy nodes, rule 1: its peer 1 is not evaluated`,
  );
});
