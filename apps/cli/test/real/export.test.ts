// Real: an API server's proxy asks the programs for their status, and its admission decides what conflicts look like.
import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from '@kube-semaphore/eventually';
import {
  createPod,
  deployedCrds,
  docBlocks,
  endpointSlice,
  kubectlFolder,
  pod,
  type Program,
  type RealCluster,
  service,
  spawnProgram,
  startRealCluster,
} from '@kube-semaphore/testkit';
import { expect, test } from 'vitest';
import { afterContexts, runHere } from '../support/run.ts';

const launcher = fileURLToPath(new URL('../../../service-mirror/bin/semaphore-service-mirror.js', import.meta.url));
const semaphore = fileURLToPath(new URL('../../bin/semaphore.js', import.meta.url));

const GLOBAL = 'mirror.semaphore.uw.io/global-service';
const names = ['c1', 'c2'] as const;
type Name = (typeof names)[number];

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

const it = test
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
  .extend('run', ({ kubeconfigs, mirrors: _mirrors }) => async (...argv: readonly string[]) => {
    return afterContexts(await runHere({ KUBECONFIG: kubeconfigs }, 'export', ...argv));
  })
  /** Types commands, as a user who has both programs. */
  .extend('type', ({ clusters: { c1 }, kubeconfigs, mirrors: _mirrors }) => async (commands: string) => {
    const bin = join(c1.dir, 'bin');
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, 'semaphore'), `#!/bin/sh\nexec "${process.execPath}" "${semaphore}" "$@"\n`);
    await chmod(join(bin, 'semaphore'), 0o755);
    const PATH = [bin, kubectlFolder, process.env['PATH']].join(delimiter);
    const env = { PATH, HOME: c1.dir, KUBECONFIG: kubeconfigs };
    return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], { env })).stdout;
  })
  .extend('add', ({ clusters }) => async (at: Name, name: string, labels: Readonly<Record<string, string>> = {}) => {
    const { admin } = clusters[at];
    await admin.create('/api/v1/namespaces/shop/services', service({ namespace: 'shop', name, labels }));
    await admin.create(
      '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices',
      endpointSlice({ namespace: 'shop', name: `${name}-1`, service: name, endpoints: [`10.4.${at.slice(1)}.1`] }),
    );
  });

it('exports a Service, says what each cluster made of it, and ends that again', async ({ run, add }) => {
  await add('c1', 'cart');
  const words = ['cart', '-n', 'shop', '--context', 'c1', '--importer', 'c2', '--wait', '5m'];
  const dry = await run(...words, '--dry-run');
  expect(dry).toMatchObject({ code: 0, stderr: 'nothing was written: --dry-run\n' });
  expect(dry.stdout).toMatch(/^shop\/cart +c1 +created +- +- +-$/m);

  const { code, stdout } = await run(...words, '--exported-label', 'team=shop', '-o', 'json');
  expect(code).toBe(0);
  const imported = { type: 'ClusterSetIP', ips: [expect.stringMatching(/^\d/)], clusters: ['c1'] };
  expect(JSON.parse(stdout)).toEqual({
    schemaVersion: '1',
    ok: true,
    services: [
      {
        namespace: 'shop',
        name: 'cart',
        clusters: [
          { cluster: 'c1', export: 'created', import: imported, problems: [] },
          { cluster: 'c2', export: null, import: imported, problems: [] },
        ],
        next: [],
      },
    ],
  });
  const again = await Promise.all([
    run(...words, '--exported-label', 'team=shop', '--dry-run'),
    run(...words, '--exported-label', 'team=cart', '--dry-run'),
  ]);
  expect(again[0].stdout).toMatch(/^shop\/cart +c1 +unchanged /m);
  expect(again[1].stdout).toMatch(/^shop\/cart +c1 +changed /m);

  const removed = await run(...words, '--remove');
  expect(removed).toMatchObject({ code: 0, stderr: '' });
  expect(removed.stdout).toMatch(/^shop\/cart +c2 +- +- +- +-$/m);
});

it('says what the conflict is, and why a cluster has no import', async ({ run, add, clusters: { c1, c2 } }) => {
  await add('c1', 'till');
  await add('c2', 'till');
  await c2.admin.request('PATCH', '/api/v1/namespaces/shop/services/till', { spec: { sessionAffinity: 'ClientIP' } });
  const conflict = await run('till', '-n', 'shop', '--context', 'c1', '--context', 'c2', '--wait', '5m');
  expect(conflict.code).toBe(1);
  for (const cluster of names)
    expect(conflict.stdout).toContain(`✗ ${cluster}: shop/till: Conflict: different sessionAffinity in `);

  for (const name of ['only-c1', 'elsewhere']) {
    if (name === 'only-c1')
      await c1.admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await c1.admin.create(`/api/v1/namespaces/${name}/services`, service({ namespace: name, name: 'x' }));
  }
  const says = async (namespace: string, ...texts: readonly string[]) => {
    const words = ['x', '-n', namespace, '--context', 'c1', '--importer', 'c2', '--wait', '0s'];
    const { code, stdout } = await run(...words);
    return [code, ...texts.filter((text) => !stdout.includes(text))];
  };
  await eventually(() => says('only-c1', '✗ c2: only-c1/x: no import: there is no namespace only-c1; create it'), [1]);
  const forbidden = [
    "✗ c1: elsewhere/x: Ready: the Service is not exported: mcs.namespaces doesn't allow the namespace elsewhere",
    "✗ c2: elsewhere/x: no import: mcs.namespaces of semaphore-service-mirror doesn't allow the namespace elsewhere",
  ];
  await eventually(() => says('elsewhere', ...forbidden), [1]);
});

it('migrates global Services as the page says: first both names, then the new one', async ({ type, add, clusters }) => {
  await add('c1', 'checkout', { [GLOBAL]: 'true' });
  await add('c2', 'checkout', { [GLOBAL]: 'true' });
  const objects = async (at: Name) => {
    const { admin } = clusters[at];
    const old = await admin.request('GET', '/api/v1/namespaces/sys-semaphore/services/gl-shop-73736d-checkout');
    const path = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/shop/serviceimports/checkout';
    const { status } = (await admin.request('GET', path)).body as { status?: { clusters?: { cluster: string }[] } };
    return { old: old.status === 200, from: (status?.clusters ?? []).map(({ cluster }) => cluster) };
  };
  for (const name of names) await eventually(() => objects(name), { old: true, from: [] });

  const [block = ''] = docBlocks('mcs.md', 'From global Services');
  const printed = await type(`${block.trim()} --wait 5m`);
  for (const name of names) expect(await objects(name)).toEqual({ old: true, from: ['c1', 'c2'] });
  const [, after = ''] = printed.split('checkout.shop.svc.cluster.global\n');
  await type(after);
  for (const name of names) await eventually(() => objects(name), { old: false, from: ['c1', 'c2'] });
});
