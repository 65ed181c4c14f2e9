import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { argvOf, MIRRORS, type MirrorFlags } from './support/mirror-process.ts';
import { itWithTwoRemotes } from './support/remotes.ts';

const labels = { global: 'true' };
const web = { name: 'web', labels };
const slice = (...endpoints: string[]) => ({ name: 'web-a', service: 'web', labels, endpoints });

const GLOBAL = 'gl-default-73736d-web';
const mirror = (prefix: string) => `${prefix}-default-73736d-web`;

/** After a process served both remotes; `program` starts one that serves only c2. */
const it = itWithTwoRemotes
  .extend(
    'startBoth',
    ({ startWithFile }) =>
      () =>
        startWithFile({ globalSvcLabelSelector: 'global=true' }),
  )
  .extend('served', async ({ sources, secondSources, mirrors, startBoth }) => {
    await sources.add(web);
    await sources.addSlice(slice('10.4.0.1'));
    await secondSources.add(web);
    await secondSources.addSlice(slice('10.5.0.1'));
    await secondSources.add({ name: 'own', labels });
    const program = await startBoth();
    const [own, ownGlobal] = ['c2-a-default-73736d-own', 'gl-default-73736d-own'];
    await mirrors.become({
      [mirror('c2')]: ['10.4.0.1'],
      [mirror('c2-a')]: ['10.5.0.1'],
      [GLOBAL]: ['10.4.0.1', '10.5.0.1'],
      [own]: [],
      [ownGlobal]: [],
    });
    await program.stop();
    return { own, ownGlobal };
  })
  .extend(
    'cleanup',
    ({ accounts, startWith }) =>
      (flags: MirrorFlags) =>
        startWith(
          [
            'cleanup',
            ...argvOf({
              cluster: 'c2-a',
              'kube-config': accounts.local.kubeconfig,
              'mirror-ns': MIRRORS,
              yes: 'true',
              ...flags,
            }),
          ],
          { ready: false },
        ),
  );

const foreign = { ports: [{ name: 'mine', port: 80, protocol: 'TCP' }] };

describe('cleanup', () => {
  it('removes the objects of one cluster, prints them, and leaves all else as it was', async ({
    mirrors,
    served,
    cleanup,
  }) => {
    const { own, ownGlobal } = served;
    await mirrors.create('services', {
      metadata: { name: 'c2-a-mine', labels: { 'mirror-svc-prefix-sync': 'c2-a' } },
      spec: foreign,
    });
    const before = await mirrors.service(mirror('c2'));
    const spec = (await mirrors.service(GLOBAL))['spec'];
    const program = await cleanup({});
    expect(await program.exited).toEqual({ code: 0, signal: null });
    const lines = program
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/-[0-9a-f]{20}$/, '-HASH'));
    expect(lines).toEqual([
      `delete  Service ${own}`,
      `delete  Service ${mirror('c2-a')}`,
      `delete  Service ${ownGlobal}`,
      `change  Service ${GLOBAL}`,
      `delete  EndpointSlice ${mirror('c2-a')}-HASH`,
      `delete  EndpointSlice ${GLOBAL}-HASH`,
      'Cleaned up cluster c2-a.',
    ]);
    await mirrors.become({ 'c2-a-mine': [], [mirror('c2')]: ['10.4.0.1'], [GLOBAL]: ['10.4.0.1'] });
    await eventually(async () => (await mirrors.slices()).length, 2);
    expect((await mirrors.service(mirror('c2'))).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    const { metadata, spec: after } = (await mirrors.service(GLOBAL)) as KubeObject & { spec: object };
    expect(metadata.annotations).toEqual({ 'global-svc-clusters': 'c2', 'mirror-svc-source': 'global/default/web' });
    expect(after).toEqual(spec);

    const again = await cleanup({});
    expect(await again.exited).toEqual({ code: 0, signal: null });
    expect(again.stdout()).toBe('Nothing to remove for cluster c2-a.\n');
  });

  it.for([{ sync: false }, { sync: true }])(
    'is not undone by a process that serves the others, whose objects stay (sync: $sync)',
    async ({ sync }, { local, mirrors, served, history, startWith, cleanup }) => {
      const file = JSON.parse(await readFile(join(local.dir, 'service-mirror.json'), 'utf8')) as {
        global: object;
        remoteClusters: readonly { name: string }[];
      };
      const path = join(local.dir, 'without-c2-a.json');
      await writeFile(
        path,
        JSON.stringify({
          ...file,
          global: { ...file.global, serviceSync: sync, endpointSliceSync: sync },
          remoteClusters: file.remoteClusters.filter(({ name }) => name === 'c2'),
        }),
      );
      const program = await startWith([`-config=${path}`, '-listen-address=127.0.0.1:0']);
      // It doesn't touch objects that may belong to another process.
      await eventually(async () => (await mirrors.service(GLOBAL)).metadata.annotations?.['global-svc-clusters'], 'c2');
      await program.logged('service updated', { service: GLOBAL });
      await eventually(() => program.metric('semaphore_service_mirror_orphans', { cluster: 'c2-a' }), 4);
      expect(await mirrors.endpoints()).toEqual({
        [mirror('c2')]: ['10.4.0.1'],
        [mirror('c2-a')]: ['10.5.0.1'],
        [GLOBAL]: ['10.4.0.1', '10.5.0.1'],
        [served.own]: [],
        [served.ownGlobal]: [],
      });
      // Orphans are reported as such.
      expect(program.log().filter(({ reason }) => reason === 'left-behind')).toEqual([]);
      const written = program.log().filter(({ msg }) => /^(service|slice) /.test(msg)).length;

      expect(await (await cleanup({})).exited).toMatchObject({ code: 0 });
      await eventually(() => program.metric('semaphore_service_mirror_orphans', { cluster: 'c2-a' }), 0);
      await mirrors.become({ [mirror('c2')]: ['10.4.0.1'], [GLOBAL]: ['10.4.0.1'] });
      await history.caughtUp();
      expect(history.deletions.toSorted()).toEqual([mirror('c2-a'), served.own, served.ownGlobal].toSorted());
      expect(program.log().filter(({ msg }) => /^(service|slice) /.test(msg))).toHaveLength(written);
    },
  );

  it('removes the objects of a Go program for a prefix', async ({ mirrors, cleanup }) => {
    const made = (prefix: string) => ({
      metadata: { name: mirror(prefix), labels: { 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': prefix } },
    });
    for (const prefix of ['c2', 'c2-a']) {
      await mirrors.create('services', { ...made(prefix), spec: foreign });
      await mirrors.create('endpoints', { ...made(prefix), subsets: [{ addresses: [{ ip: '10.4.0.1' }] }] });
    }
    expect(await (await cleanup({})).exited).toMatchObject({ code: 0 });
    expect((await mirrors.services()).map(({ metadata }) => metadata.name)).toEqual([mirror('c2')]);
    expect(await mirrors.endpointsObjects()).toEqual([mirror('c2')]);
  });

  it.for<{ name: string; flags: MirrorFlags; want: RegExp }>([
    { name: 'is the remote of the flags', flags: { 'svc-prefix': 'c2-a' }, want: /c2-a is in the config/ },
    {
      name: 'has no terminal for a confirmation',
      flags: { yes: undefined },
      want: /stdin is not a terminal: use -yes/,
    },
    {
      name: 'has no name',
      flags: { cluster: undefined },
      want: /-cluster or SSM_CLEANUP_CLUSTER is required for cleanup/,
    },
    {
      name: 'has no namespace',
      flags: { 'mirror-ns': undefined },
      want: /-mirror-ns or SSM_MIRROR_NS is required for cleanup/,
    },
  ])('does nothing to a cluster that $name', async ({ flags, want }, { mirrors, served: _served, cleanup }) => {
    const names = async () =>
      (await mirrors.services()).map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
    const before = await names();
    const program = await cleanup(flags);
    expect(await program.exited).toEqual({ code: 2, signal: null });
    expect(program.stderr()).toMatch(want);
    expect(program.stdout()).toBe('');
    expect(await names()).toEqual(before);
  });

  it.for([{ cluster: 'c1' }, { cluster: 'c2' }, { cluster: 'c2-a' }])(
    'refuses $cluster, which a config file names',
    async ({ cluster }, { local, served: _served, mirrors, startWith }) => {
      const before = Object.keys(await mirrors.endpoints());
      const program = await startWith(
        ['cleanup', `-cluster=${cluster}`, '-yes', `-config=${local.dir}/service-mirror.json`],
        { ready: false },
      );
      expect(await program.exited).toEqual({ code: 2, signal: null });
      expect(program.stderr()).toBe(`semaphore-service-mirror: ${cluster} is in the config: remove it there first\n`);
      expect(Object.keys(await mirrors.endpoints())).toEqual(before);
    },
  );

  it('reads the local cluster and the namespace from a config file without the cluster', async ({
    mirrors,
    startWith,
    local,
    cleanup,
    served: _served,
  }) => {
    const path = `${local.dir}/service-mirror.json`;
    const program = await startWith(['cleanup', '-cluster=c9', '-yes', `-config=${path}`], { ready: false });
    expect(await program.exited).toEqual({ code: 0, signal: null });
    expect(program.stdout()).toBe('Nothing to remove for cluster c9.\n');
    expect(Object.keys(await mirrors.endpoints())).toHaveLength(5);
    expect(await (await cleanup({ cluster: 'c9' })).exited).toMatchObject({ code: 0 });
  });
});
