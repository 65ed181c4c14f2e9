import { networkInterfaces } from 'node:os';
import { fileURLToPath } from 'node:url';
import { createPod, globalNetworkSetCrd, pod, spawnProgram, startCluster } from '@kube-semaphore/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { run } from '../support/run.ts';

const launcher = fileURLToPath(new URL('../../../policy/bin/semaphore-policy.js', import.meta.url));

/** An API server's proxy refuses loopback addresses. */
function ownAddress(): string {
  const own = Object.values(networkInterfaces()).flatMap((all = []) => all);
  return own.find(({ family, internal }) => family === 'IPv4' && !internal)!.address;
}

it('reads the status of a Pod through the proxy of a real API server, with the documented rights', async () => {
  const cluster = await startCluster({ name: 'c1' });
  onTestFinished(() => cluster.stop());
  await cluster.defineResource(globalNetworkSetCrd('crd.projectcalico.org'));
  const ip = ownAddress();
  const program = spawnProgram(launcher, [
    `-local-kube-config=${cluster.adminKubeconfig}`,
    `-target-kube-config=${cluster.adminKubeconfig}`,
    '-target-cluster-name=c2',
    `-listen-address=${ip}:0`,
  ]);
  onTestFinished(async () => void (await program.stop()));
  const { port } = await program.logged('started');
  await program.logged('no label domain chosen yet');
  const ports = [{ name: 'http', containerPort: Number(port) }];
  await createPod(cluster.admin, {
    ...pod({ name: 'policy-0', labels: { app: 'semaphore-policy' }, ips: [ip] }),
    spec: { containers: [{ name: 'policy', image: 'policy', ports }] },
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
});
