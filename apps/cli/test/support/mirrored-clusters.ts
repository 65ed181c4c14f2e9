import { writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  createPod,
  deployedCrds,
  endpointSlice,
  pod,
  type Program,
  type RealCluster,
  service,
  spawnProgram,
  startRealCluster,
} from '@kube-semaphore/testkit';
import { test } from 'vitest';

const launcher = fileURLToPath(new URL('../../../service-mirror/bin/semaphore-service-mirror.js', import.meta.url));

/** The label of global Services. */
export const GLOBAL = 'mirror.semaphore.uw.io/global-service';
export const names = ['c1', 'c2'] as const;
export type Name = (typeof names)[number];

/** An API server's proxy refuses loopback addresses. */
function ownAddress(): string {
  const own = Object.values(networkInterfaces()).flatMap((all = []) => all);
  return own.find(({ family, internal }) => family === 'IPv4' && !internal)!.address;
}

async function startMirror(cluster: RealCluster, remote: RealCluster): Promise<Program> {
  const config = join(cluster.dir, 'service-mirror.json');
  await writeFile(
    config,
    JSON.stringify({
      global: {
        mirrorSvcLabelSelector: 'mirror=true',
        globalSvcLabelSelector: `${GLOBAL}=true`,
        globalSvcRoutingStrategyLabel: 'local-first=true',
        mirrorNamespace: 'sys-semaphore',
      },
      mcs: { namespaces: ['shop', 'only-c1'] },
      localCluster: { name: cluster.name, kubeConfigPath: cluster.adminKubeconfig },
      remoteClusters: [{ name: remote.name, servicePrefix: remote.name, kubeConfigPath: remote.adminKubeconfig }],
    }),
  );
  const ip = ownAddress();
  const program = spawnProgram(launcher, [`-config=${config}`, `-listen-address=${ip}:0`]);
  const { port } = await program.logged('started');
  const ports = [{ name: 'http', containerPort: Number(port) }];
  const labels = { app: 'semaphore-service-mirror' };
  await createPod(cluster.admin, {
    ...pod({ namespace: 'kube-system', name: 'service-mirror-0', labels, ips: [ip] }),
    spec: { serviceAccountName: 'default', containers: [{ name: 'mirror', image: 'mirror', ports }] },
  });
  return program;
}

/**
 * A test with two real clusters that share Services: each has a program whose status its API server asks for, and a namespace
 * `shop`.
 */
export const itWithMirrors = test
  .extend('members', { scope: 'file' }, names)
  .extend('clusters', { scope: 'file' }, async ({ members }, { onCleanup }) => {
    const [c1, c2] = await Promise.all([
      startRealCluster({ name: members[0] }),
      startRealCluster({ name: members[1] }),
    ]);
    onCleanup(async () => void (await Promise.all([c1.stop(), c2.stop()])));
    for (const { admin, ...cluster } of [c1, c2]) {
      for (const crd of deployedCrds('service-mirror/mcs')) await cluster.defineResource(crd);
      for (const name of ['sys-semaphore', 'shop', 'elsewhere'])
        await admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    return { c1, c2 };
  })
  .extend('mirrors', { scope: 'file' }, async ({ clusters: { c1, c2 } }, { onCleanup }) => {
    const programs = [await startMirror(c1, c2), await startMirror(c2, c1)];
    onCleanup(async () => void (await Promise.all(programs.map((program) => program.stop()))));
    return programs;
  })
  .extend('kubeconfigs', { scope: 'file' }, ({ clusters: { c1, c2 } }) =>
    [c1.adminKubeconfig, c2.adminKubeconfig].join(delimiter),
  )
  .extend('add', ({ clusters }) => async (at: Name, name: string, labels: Readonly<Record<string, string>> = {}) => {
    const { admin } = clusters[at];
    await admin.create('/api/v1/namespaces/shop/services', service({ namespace: 'shop', name, labels }));
    await admin.create(
      '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices',
      endpointSlice({
        namespace: 'shop',
        name: `${name}-1`,
        service: name,
        labels,
        endpoints: [`10.4.${at.slice(1)}.1`],
      }),
    );
  });
