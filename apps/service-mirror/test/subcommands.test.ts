import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { describe, expect, onTestFinished, type TestContext } from 'vitest';
import { itBehindProxy, it } from './support/it.ts';
import { argvOf, type MirrorFlags, mirrorLabels, usualFlags } from './support/mirror-process.ts';
import { itWithTwoRemotes } from './support/remotes.ts';

const mirrorOf = (name: string) => `c2-default-73736d-${name}`;
const orphanLabels = { 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': 'c9' };
const ports = [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }];
const slicePorts = [{ name: 'http', port: 8080, protocol: 'TCP' }];

type Json = {
  readonly changes: readonly {
    readonly change: string;
    readonly kind: string;
    readonly name: string;
    readonly to?: { readonly endpoints?: readonly object[] };
  }[];
  readonly routing: readonly object[];
  readonly remotes: readonly {
    readonly cluster: string;
    readonly reached: boolean;
    readonly heldDeletions: number;
    readonly skipped: readonly {
      readonly subject: string;
      readonly kind: string;
      readonly reason: string;
      readonly detail: string;
    }[];
    readonly services: readonly string[];
  }[];
  readonly orphans: readonly object[];
};

/** `onTestFinished` of one of several tests that run at the same time. */
type AtEnd = TestContext['onTestFinished'];

/** Where a server listens until the test ends. */
async function portOf(server: Server, atEnd: AtEnd): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => void sockets.add(socket));
  atEnd(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Names of slices end in a hash. */
const withoutHash = (text: string): string => text.replaceAll(/-[0-9a-f]{20}\b/g, '-HASH');

describe('plan', () => {
  it('prints changes and skipped objects, for people and for programs, and writes nothing', async ({
    accounts,
    sources,
    mirrors,
    history,
    startWith,
  }) => {
    await sources.add({ name: 'new', ports });
    await sources.addSlice({
      name: 'new-a',
      service: 'new',
      endpoints: ['10.4.0.1', '10.4.0.2', '192.0.2.1'],
      ports: slicePorts,
    });
    await sources.add({ name: 'edited', ports });
    await sources.add({ name: 'away', spec: { type: 'ExternalName', externalName: 'example.com' } });
    const mirror = (name: string, labels: object = mirrorLabels) =>
      mirrors.create('services', { metadata: { name, labels }, spec: { ports } });
    await mirror(mirrorOf('edited'));
    await mirror(mirrorOf('gone'));
    await mirrors.create('endpoints', { metadata: { name: mirrorOf('gone'), labels: mirrorLabels } });
    await mirror('c9-default-73736d-web', orphanLabels);
    const flags: MirrorFlags = { ...usualFlags(accounts), 'allowed-pod-cidrs': '10.4.0.0/16' };
    const before = await mirrors.services();

    const text = await startWith(['plan', ...argvOf(flags)], { ready: false });
    expect(await text.exited).toEqual({ code: 0, signal: null });
    expect(withoutHash(text.stdout()).split('\n')).toEqual([
      `change  Service ${mirrorOf('edited')}`,
      `delete  Service ${mirrorOf('gone')}`,
      `delete  Endpoints ${mirrorOf('gone')}`,
      `create  Service ${mirrorOf('new')}`,
      `create  EndpointSlice ${mirrorOf('new')}-HASH  2 endpoints`,
      '',
      'c2: 2 services now',
      expect.stringMatching(/^skip {4}.*default\/away: an ExternalName Service has no endpoints$/),
      expect.stringMatching(/^skip! {3}.*default\/new-a: 192\.0\.2\.1 is outside of allowedPodCIDRs$/),
      '',
      'c9: not in the config: 1 object would stay; "cleanup -cluster c9" removes them',
      '',
    ]);

    const json = await startWith(['plan', '-o=json', ...argvOf(flags)], { ready: false });
    expect(await json.exited).toEqual({ code: 0, signal: null });
    const plan = JSON.parse(json.stdout()) as Json;
    expect(
      plan.changes.map(({ change, kind, name, to }) => [change, kind, withoutHash(name), to?.endpoints?.length]),
    ).toEqual([
      ['change', 'Service', mirrorOf('edited'), undefined],
      ['delete', 'Service', mirrorOf('gone'), undefined],
      ['delete', 'Endpoints', mirrorOf('gone'), undefined],
      ['create', 'Service', mirrorOf('new'), undefined],
      ['create', 'EndpointSlice', `${mirrorOf('new')}-HASH`, 2],
    ]);
    expect(plan.remotes).toMatchObject([
      { cluster: 'c2', reached: true, heldDeletions: 0, services: [mirrorOf('edited'), mirrorOf('gone')] },
    ]);
    expect(plan.remotes[0]!.skipped.map(({ kind, reason }) => ({ kind, reason }))).toEqual([
      { kind: 'expected', reason: 'external-name' },
      { kind: 'problem', reason: 'address-not-allowed' },
    ]);
    expect(plan.orphans).toEqual([{ cluster: 'c9', objects: 1 }]);

    await history.caughtUp();
    expect(history.deletions).toEqual([]);
    expect(await mirrors.services()).toEqual(before);
    expect(await mirrors.slices()).toEqual([]);
  });

  it('says so if there is nothing to change, as after a run', async ({
    accounts,
    sources,
    mirrors,
    start,
    startWith,
  }) => {
    await sources.add({ name: 'web', ports });
    const program = await start();
    await mirrors.become({ [mirrorOf('web')]: [] });
    await program.stop();
    const plan = await startWith(['plan', ...argvOf(usualFlags(accounts))], { ready: false });
    expect(await plan.exited).toEqual({ code: 0, signal: null });
    expect([plan.stdout(), plan.stderr()]).toEqual(['Nothing to change.\n\nc2: 1 service now\n', '']);
  });

  it('retains mirrors if a wrong selector finds no Service, warns, and continues when it finds the first', async ({
    accounts,
    sources,
    mirrors,
    start,
    startWith,
  }) => {
    await sources.add({ name: 'web', ports });
    const first = await start();
    await mirrors.become({ [mirrorOf('web')]: [] });
    await first.stop();
    const wrong = { 'label-selector': 'miror=true' };
    const plan = await startWith(['plan', ...argvOf({ ...usualFlags(accounts), ...wrong })], { ready: false });
    expect(await plan.exited).toEqual({ code: 0, signal: null });
    expect(plan.stdout().split('\n')).toEqual([
      'Nothing to change.',
      '',
      'c2: 1 service now',
      'empty   no Service matches miror=true',
      expect.stringMatching(/^skip! {3}selector miror=true: no Service matches miror=true, but 1 local Service /),
      '',
    ]);
    const program = await start(wrong);
    await program.logged('skipped', { level: 'warn', reason: 'no-service-matches' });
    await mirrors.become({ [mirrorOf('web')]: [] });
    expect(
      await program.metric('semaphore_service_mirror_skipped_objects', {
        remote: 'c2',
        reason: 'no-service-matches',
        kind: 'problem',
      }),
    ).toBe(1);
    await sources.add({ name: 'other', ports, labels: { miror: 'true' } });
    await mirrors.become({ [mirrorOf('other')]: [] });
    expect(
      await program.metric('semaphore_service_mirror_skipped_objects', {
        remote: 'c2',
        reason: 'no-service-matches',
        kind: 'problem',
      }),
    ).not.toBe(1);
  });

  describe('for a remote that is not reached', () => {
    type Kubeconfig = { clusters: { cluster: Record<string, string> }[]; users: { user: Record<string, unknown> }[] };
    const cluster = (change: Record<string, string>) => (file: Kubeconfig) =>
      void Object.assign(file.clusters[0]!.cluster, change);
    const user = (becomes: object) => (file: Kubeconfig) => void Object.assign(file.users[0]!, { user: becomes });

    const atServer = (server: Server) => async (file: Kubeconfig, atEnd: AtEnd) =>
      cluster({ server: `https://127.0.0.1:${await portOf(server, atEnd)}` })(file);

    type Case = {
      readonly name: string;
      readonly change: (file: Kubeconfig, atEnd: AtEnd) => void | Promise<void>;
      readonly want: RegExp;
    };

    it.concurrent.for<Case>([
      { name: 'a closed port', change: cluster({ server: 'https://127.0.0.1:1' }), want: /ECONNREFUSED/ },
      { name: 'an unknown host', change: cluster({ server: 'https://nowhere.invalid' }), want: /nowhere\.invalid/ },
      {
        name: 'an authority that did not sign its certificate',
        change: ({ clusters }) => void delete clusters[0]!.cluster['certificate-authority-data'],
        want: /certificate/,
      },
      {
        name: 'an unknown token',
        change: user({ token: 'of-another-cluster' }),
        want: /401|Unauthorized/,
      },
      {
        name: 'a missing exec plugin',
        change: user({
          exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'no-such-plugin', interactiveMode: 'Never' },
        }),
        want: /no-such-plugin/,
      },
      {
        name: 'a server that never answers',
        change: atServer(createServer()),
        // The limit of the TLS handshake is that of this plan: either ends first.
        want: /^c2: not reached: (?:127\.0\.0\.1:\d+: )?no answer(?: to the TLS handshake within 10 s)?$/m,
      },
      {
        name: 'a server without TLS',
        change: atServer(createHttpServer((_, response) => response.end('{}'))),
        want: /^c2: not reached: 127\.0\.0\.1:\d+: it answers without TLS \(.+$/m,
      },
    ])(
      'names $name, and does not say that there is nothing to change',
      async ({ change, want }, { accounts, local, startWith, onTestFinished: atEnd }) => {
        const file = JSON.parse(await readFile(accounts.remote.kubeconfig, 'utf8')) as Kubeconfig;
        await change(file, atEnd);
        const path = join(local.dir, `${randomUUID()}.kubeconfig`);
        await writeFile(path, JSON.stringify(file), { mode: 0o600 });
        const plan = await startWith(
          ['plan', '-timeout=10s', ...argvOf({ ...usualFlags(accounts), 'target-kube-config': path })],
          { ready: false },
        );
        expect(await plan.exited).toEqual({ code: 1, signal: null });
        expect(plan.stdout()).toMatch(/^Changes are unknown: c2 not reached\.\n\nc2: not reached: /);
        expect(plan.stdout()).toMatch(want);
      },
    );

    it('names a missing right, of the remote and of the local cluster', async ({
      accounts,
      local,
      remote,
      startWith,
    }) => {
      const [here, there] = await Promise.all([local, remote].map((each) => each.account('nobody', [])));
      const plan = (flags: MirrorFlags) =>
        startWith(['plan', '-timeout=10s', ...argvOf({ ...usualFlags(accounts), ...flags })], { ready: false });
      const [ofRemote, ofLocal] = await Promise.all([
        plan({ 'target-kube-config': there!.kubeconfig }),
        plan({ 'kube-config': here!.kubeconfig }),
      ]);
      expect([await ofRemote.exited, await ofLocal.exited]).toMatchObject([{ code: 1 }, { code: 1 }]);
      expect(ofRemote.stdout()).toMatch(/^c2: not reached: .*forbidden/m);
      expect(ofLocal.stderr()).toMatch(/couldn't be read within 10000 ms: .*forbidden/);
    });
  });

  it('warns of a remote that is the local cluster', async ({ accounts, startWith }) => {
    const plan = await startWith(
      ['plan', ...argvOf({ ...usualFlags(accounts), 'target-kube-config': accounts.local.kubeconfig, timeout: '10s' })],
      { ready: false },
    );
    await plan.exited;
    expect(plan.stderr()).toMatch(
      /^semaphore-service-mirror: warning: -target-kube-config.* leads to the same API server as -kube-config/m,
    );
  });

  it('warns of the local cluster at another address, like the app', async ({ accounts, local, start, startWith }) => {
    const proxy = await startFaultProxy(local);
    onTestFinished(() => proxy.stop());
    const elsewhere = { 'target-kube-config': await proxy.kubeconfig(accounts.local) };
    const argv = argvOf({ ...usualFlags(accounts), ...elsewhere, timeout: '10s' });
    const plan = await startWith(['plan', ...argv], { ready: false });
    await plan.exited;
    expect(plan.stderr()).toMatch(/: warning: -target-kube-config.* leads to the same cluster as -kube-config/);
    const program = await start(elsewhere, { ready: false });
    const said = /leads to the same cluster as -kube-config/;
    const warned = () => program.log().filter(({ level, msg }) => level === 'warn' && said.test(String(msg))).length;
    await eventually(warned, 1);
  });

  it('prints warnings about its options to stderr', async ({ accounts, startWith }) => {
    const plan = await startWith(['plan', ...argvOf(usualFlags(accounts))], {
      ready: false,
      env: { SSM_LABEL_SELECTR: 'a=b' },
    });
    await plan.exited;
    expect(plan.stderr()).toMatch(/^semaphore-service-mirror: warning: .*SSM_LABEL_SELECTR/m);
  });

  itBehindProxy(
    'prints how many objects are held',
    async ({ accounts, sources, mirrors, remoteProxy, viaProxy, start, startWith }) => {
      // More than the guard lets be deleted at once.
      const names = Array.from({ length: 12 }, (_, i) => `app-${i}`);
      for (const name of names) await sources.add({ name, ports });
      const program = await start();
      await mirrors.become(Object.fromEntries(names.map((name) => [mirrorOf(name), []])));
      await program.stop();
      await remoteProxy.set({ kind: 'empty' });
      const argv = argvOf({ ...usualFlags(accounts), ...viaProxy });
      const text = await startWith(['plan', ...argv], { ready: false });
      expect(await text.exited).toEqual({ code: 0, signal: null });
      expect(text.stdout().split('\n')).toEqual([
        'Nothing to change.',
        '',
        'c2: 12 services now',
        'empty   no Service matches mirror=true',
        'held    12 objects missing from its lists, until the next list',
        expect.stringMatching(/^skip! {3}selector mirror=true: no Service matches mirror=true, but 12 local Services /),
        '',
      ]);
      const json = await startWith(['plan', '-o=json', ...argv], { ready: false });
      await json.exited;
      expect(JSON.parse(json.stdout()) as Json).toMatchObject({
        changes: [],
        remotes: [{ reached: true, heldDeletions: 12 }],
      });
    },
  );

  itWithTwoRemotes(
    'prints the mirrors of an unreached remote as unknown, and exits with 1',
    async ({ local, sources, secondSources, secondProxy, mirrors, startWithFile, startWith }) => {
      await sources.add({ name: 'web', ports });
      await secondSources.add({ name: 'web', ports });
      const program = await startWithFile();
      const away = 'c2-a-default-73736d-web';
      await mirrors.become({ [mirrorOf('web')]: [], [away]: [] });
      await program.stop();
      await sources.add({ name: 'new', ports });
      await secondProxy.set({ kind: 'refuse' });
      const file = `-config=${local.dir}/service-mirror.json`;
      const plans = await Promise.all(
        [
          ['plan', file, '-timeout=10s'],
          ['plan', '-o=json', file, '-timeout=10s'],
        ].map((argv) => startWith(argv, { ready: false })),
      );
      expect(await Promise.all(plans.map(({ exited }) => exited))).toEqual([
        { code: 1, signal: null },
        { code: 1, signal: null },
      ]);
      const [text, json] = plans.map(({ stdout }) => stdout());
      expect(text!.split('\n')).toEqual([
        `create  Service ${mirrorOf('new')}`,
        '',
        'c2: 1 service now',
        '',
        expect.stringMatching(/^c2-a: not reached: .+/),
        'Its 1 service would stay:',
        `unknown ${away}`,
        '',
      ]);
      expect(JSON.parse(json!) as Json).toMatchObject({
        changes: [{ change: 'create', kind: 'Service', name: mirrorOf('new') }],
        remotes: [
          { cluster: 'c2', reached: true },
          { cluster: 'c2-a', reached: false, services: [away] },
        ],
      });
    },
  );

  it.for<{ name: string; flags: MirrorFlags; want: RegExp }>([
    {
      name: 'half of its flags',
      flags: { 'svc-prefix': undefined, 'mirror-ns': undefined },
      want: /^semaphore-service-mirror: -mirror-ns .* is required\nsemaphore-service-mirror: -svc-prefix .* is required\n/,
    },
    { name: 'an unknown format', flags: { o: 'yaml' }, want: /^semaphore-service-mirror: -o .*"yaml".*\n/ },
    {
      name: 'a missing kubeconfig',
      flags: { 'target-kube-config': '/nowhere/kubeconfig' },
      want: /^semaphore-service-mirror: .*\/nowhere\/kubeconfig.*\n$/,
    },
    {
      name: 'a missing config file',
      flags: {
        'target-kube-config': undefined,
        'svc-prefix': undefined,
        'allowed-pod-cidrs': undefined,
        config: '/nowhere/config.json',
      },
      want: /^semaphore-service-mirror: .*\/nowhere\/config\.json can't be read: ENOENT\n$/,
    },
  ])('exits with 2 for $name, and prints only that', async ({ flags, want }, { accounts, startWith }) => {
    const plan = await startWith(['plan', ...argvOf({ ...usualFlags(accounts), ...flags })], { ready: false });
    expect(await plan.exited).toEqual({ code: 2, signal: null });
    expect(plan.stderr()).toMatch(want);
    expect(plan.stdout()).toBe('');
  });
});
