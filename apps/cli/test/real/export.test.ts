// Real: an API server's proxy asks the programs for their status, and its admission decides what conflicts look like.
import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from '@kube-semaphore/eventually';
import { docBlocks, kubectlFolder, service } from '@kube-semaphore/testkit';
import { expect } from 'vitest';
import { GLOBAL, itWithMirrors, type Name, names } from '../support/mirrored-clusters.ts';
import { afterContexts, runHere } from '../support/run.ts';

const semaphore = fileURLToPath(new URL('../../bin/semaphore.js', import.meta.url));

const it = itWithMirrors
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
