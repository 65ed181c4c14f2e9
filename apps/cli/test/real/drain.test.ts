// Real: an API server's proxy asks the program for its status, and the API server says who we are.
import { eventually } from '@kube-semaphore/eventually';
import { expect } from 'vitest';
import { GLOBAL, itWithMirrors } from '../support/mirrored-clusters.ts';
import { afterContexts, runHere } from '../support/run.ts';

const SLICES = '/apis/discovery.k8s.io/v1/namespaces/sys-semaphore/endpointslices';
const DRAINS = '/api/v1/namespaces/sys-semaphore/configmaps/semaphore-drains';

type Slice = {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly endpoints: readonly { readonly conditions: { readonly ready: boolean } }[];
};

const it = itWithMirrors
  .extend('run', ({ kubeconfigs, mirrors: _mirrors }) => async (...argv: readonly string[]) => {
    return afterContexts(await runHere({ KUBECONFIG: kubeconfigs }, ...argv));
  })
  /** The clusters with a ready endpoint in c1, of each global Service there, sorted. */
  .extend('ready', ({ clusters: { c1 } }) => async () => {
    const slices = (await c1.admin.list(SLICES)) as unknown as readonly Slice[];
    const ready = slices
      .filter(({ endpoints }) => endpoints.some(({ conditions }) => conditions.ready))
      .map(({ metadata: { labels } }) => ({
        service: labels['kubernetes.io/service-name']!.replace('gl-shop-73736d-', ''),
        cluster: labels['mirror-endpointslice-sync-name']!,
      }));
    const names = Map.groupBy(ready, ({ service }) => service);
    return Object.fromEntries(Array.from(names, ([name, all]) => [name, all.map(({ cluster }) => cluster).toSorted()]));
  })
  .extend('data', ({ clusters: { c1 } }) => async () => {
    const { status, body } = await c1.admin.request('GET', DRAINS);
    return status === 404 ? undefined : (body['data'] as Readonly<Record<string, string>> | undefined);
  });

it('drains a cluster in another one, says what only it has, and ends that again', async ({ add, run, ready, data }) => {
  await add('c1', 'web', { [GLOBAL]: 'true' });
  await add('c2', 'web', { [GLOBAL]: 'true' });
  await add('c2', 'only', { [GLOBAL]: 'true' });
  const all = { web: ['c1', 'c2'], only: ['c2'] };
  await eventually(ready, all);

  const words = ['c2', '--context', 'c1', '--wait', '5m'];
  const dry = await run('drain', ...words, '--dry-run');
  expect(dry).toMatchObject({ code: 0, stderr: 'nothing was written: --dry-run\n' });
  expect(dry.stdout.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
    'CLUSTER DRAIN OF c2 SERVICES THAT MOVE THAT STAY',
    'c1 begins 1 1',
    '',
    '! c1: no other cluster can answer for global shop/only: c2 still does',
    '! c2 has no --context: nothing changes there',
    '',
  ]);
  expect(await data()).toBeUndefined();

  const drained = await run('drain', ...words, '--reason', 'new kernels', '-o', 'json');
  expect(drained).toMatchObject({ code: 0, stderr: '' });
  const services = { moving: ['global shop/web'], headless: [], staying: ['global shop/only'] };
  expect(JSON.parse(drained.stdout)).toEqual({
    schemaVersion: '1',
    ok: true,
    name: 'c2',
    clusters: [{ cluster: 'c1', change: 'drained', before: null, ...services, pending: [] }],
    unreached: ['c2'],
  });
  expect(await ready()).toEqual({ web: ['c1'], only: ['c2'] });
  const { c2 = '' } = (await data())!;
  expect(JSON.parse(c2)).toEqual({
    since: expect.stringMatching(/^20.*Z$/),
    by: expect.stringMatching(/./),
    reason: 'new kernels',
  });

  const again = await run('drain', ...words);
  expect(again.stdout).toMatch(/^c1 +as before +0 +1$/m);
  expect(again.stdout).toMatch(/^! c1: c2 is drained since 20\S+ by .+: new kernels$/m);
  expect(await data()).toEqual({ c2 });

  const undrained = await run('undrain', ...words);
  expect(undrained.stdout).toMatch(/^c1 +ends$/m);
  expect(undrained).toMatchObject({ code: 0, stderr: '' });
  await eventually(ready, all);
  expect((await data())?.['c2']).toBeUndefined();
});

it('drains no cluster that the mesh does not have', async ({ run, data }) => {
  const { code, stderr } = await run('drain', 'c9', '--context', 'c1');
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('c1: semaphore-service-mirror has no cluster "c9": it has c1, c2'),
  });
  expect((await data())?.['c9']).toBeUndefined();
});
