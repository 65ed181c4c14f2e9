import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { eventually } from '@kube-semaphore/eventually';
import type { RemoteChanges } from '@kube-semaphore/multicluster';
import { mountFiles } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { itBehindProxy } from './support/it-with-network-policies.ts';
import type { PolicyProcess } from './support/policy-process.ts';
import { labelsOf } from './support/sets.ts';
import { fromApp, K } from './support/user-policies.ts';

type Entry = { readonly name: string; readonly [field: string]: unknown };

const INVALID = 'config file changed and is invalid; the last valid one stays in force';

/** A test with a config file in a mounted ConfigMap. c2 is the remote; c3 is the same cluster, behind the proxy. */
const it = itBehindProxy
  .extend('config', async ({ accounts, proxy, sets: _sets }, { onCleanup }) => {
    const dir = await mkdtemp(join(tmpdir(), 'mounted-'));
    onCleanup(() => rm(dir, { recursive: true }));
    const c2: Entry = {
      name: 'c2',
      kubeConfigPath: accounts.remote.kubeconfig,
      allowedPodCIDRs: ['10.4.0.0/16'],
    };
    const c3: Entry = {
      name: 'c3',
      kubeConfigPath: await proxy.kubeconfig(accounts.remote),
      allowedPodCIDRs: ['10.5.0.0/16'],
    };
    const mount = (text: string) => mountFiles(dir, { 'config.yaml': text });
    const write = (remotes: readonly Entry[], local: object = {}) => mount(JSON.stringify({ local, remotes }));
    return { path: join(dir, 'config.yaml'), c2, c3, mount, write };
  })
  /** A local Namespace that says that it is of c3. */
  .extend('labelledNamespace', async ({ local }, { onCleanup }) => {
    const metadata = { name: 'of-c3', labels: { [K]: 'c3' } };
    await local.admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
    onCleanup(() => local.admin.delete('/api/v1/namespaces/of-c3'));
  })
  .extend(
    'serve',
    ({ accounts, config, startWith, policies: _policies }) =>
      (...flags: readonly string[]) =>
        startWith([
          `-config=${config.path}`,
          `-local-kube-config=${accounts.local.kubeconfig}`,
          '-listen-address=127.0.0.1:0',
          ...flags,
        ]),
  );

type Status = {
  readonly remotes: readonly { readonly name: string; readonly synced: boolean }[];
  readonly configFile: { readonly problems: readonly string[]; readonly needRestart: readonly string[] };
};

const statusOf = async (policy: PolicyProcess) => (await policy.status()) as Status;
const syncedOf = async (policy: PolicyProcess): Promise<readonly string[]> =>
  (await statusOf(policy)).remotes.filter(({ synced }) => synced).map(({ name }) => name);
/** Waits until a changed file is in force that did this. */
const inForce = (policy: PolicyProcess, changes: Partial<RemoteChanges>): Promise<void> => {
  const all = { added: [], removed: [], changed: [], ...changes };
  const lines = () => policy.log().filter(({ msg }) => msg === 'config file changed, and is in force');
  const isThis = ({ added, removed, changed }: Readonly<Record<string, unknown>>): boolean =>
    isDeepStrictEqual({ added, removed, changed }, all);
  return eventually(() => lines().some(isThis), true);
};
const isStale = (policy: PolicyProcess) => policy.metric('semaphore_policy_config_stale');
const orphans = (policy: PolicyProcess) => policy.metric('semaphore_policy_orphans', { cluster: 'c3' });
const linesOf = async (policy: PolicyProcess, part: string): Promise<readonly string[]> =>
  (await policy.get('/metrics')).body.split('\n').filter((line) => line.includes(part));

const IN_C2 = { name: 'a', app: 'app', labels: { app: 'web' }, ips: ['10.4.0.1'] };
const IN_C3 = { name: 'b', app: 'app', labels: { app: 'web' }, ips: ['10.5.0.1'] };
const OTHER_IN_C3 = { name: 'c', app: 'other', ips: ['10.5.0.2'] };
const OF_C2 = { 'c2-default-app': ['10.4.0.1/32'] };
const OF_BOTH = { ...OF_C2, 'c3-default-app': ['10.5.0.1/32'] };
const OF_REMOTE = [
  'semaphore_policy_skipped_objects',
  { remote: 'local', kind: 'problem', reason: 'local-namespace-of-remote' },
] as const;
const COMPANION = 'db c3 ingress 5432: 10.5.0.1/32';

describe('a config file that changes', () => {
  it('adds a remote, and removes it, whose objects stay as orphans until it returns', async ({
    config,
    serve,
    proxy,
    pods,
    sets,
    policies,
    labelledNamespace: _namespace,
  }) => {
    const { c2, c3 } = config;
    await pods.add(IN_C2, IN_C3);
    await policies.add('db', fromApp('c3'));
    await config.write([c2]);
    const policy = await serve('-network-policies');
    await sets.become(OF_C2);
    await eventually(() => policy.metric('semaphore_policy_unknown_clusters'), 1);

    await config.write([c3, c2]);
    await inForce(policy, { added: ['c3'] });
    await sets.become(OF_BOTH);
    await policies.open(COMPANION);
    expect(await policy.metric('semaphore_policy_unknown_clusters')).toBe(0);
    expect(await policy.metric(...OF_REMOTE)).toBe(1);
    expect(await syncedOf(policy)).toEqual(['c3', 'c2']);
    await eventually(() => policy.metric('semaphore_policy_companions', { remote: 'c3' }), 1);

    await config.write([c2]);
    await inForce(policy, { removed: ['c3'] });
    await eventually(() => orphans(policy), 2);
    expect(await linesOf(policy, 'remote="c3"')).toEqual([]);
    expect(await policy.metric('semaphore_policy_unknown_clusters')).toBe(1);
    expect(await policy.metric(...OF_REMOTE)).toBe(0);
    expect((await statusOf(policy)).remotes.map(({ name }) => name)).toEqual(['c2']);
    const asked = proxy.requests().length;
    const written = [(await sets.get('c3-default-app')).metadata.resourceVersion, await policies.writes()];
    await pods.add(OTHER_IN_C3);
    await pods.relabel('a', 'moved');
    await sets.become({ 'c2-default-moved': ['10.4.0.1/32'], 'c3-default-app': ['10.5.0.1/32'] });
    expect(proxy.requests().length).toBe(asked);

    await config.write([c2, c3]);
    await sets.become({
      'c2-default-moved': ['10.4.0.1/32'],
      'c3-default-app': ['10.5.0.1/32'],
      'c3-default-other': ['10.5.0.2/32'],
    });
    expect([(await sets.get('c3-default-app')).metadata.resourceVersion, await policies.writes()]).toEqual(written);
    expect(await policies.opened()).toEqual([COMPANION]);
    await eventually(() => orphans(policy), undefined);
    // What is there is ours again.
    await pods.remove('b');
    await sets.become({ 'c2-default-moved': ['10.4.0.1/32'], 'c3-default-other': ['10.5.0.2/32'] });
    await policies.open();
    expect(await isStale(policy)).toBe(0);
  });

  it('changes a remote, and no other', async ({ config, serve, proxy, pods, sets, policies }) => {
    const { c2, c3 } = config;
    await pods.add(IN_C2, IN_C3, { name: 'd', app: 'app', labels: { app: 'web' }, ips: ['10.6.0.1'] });
    await policies.add('db', fromApp('prod'));
    await config.write([c2, c3]);
    const policy = await serve('-network-policies');
    await sets.become(OF_BOTH);
    const watches = () => proxy.requests().filter(({ target }) => target.includes('/pods')).length;
    const before = watches();

    await config.write([{ ...c2, allowedPodCIDRs: ['10.6.0.0/16'], clusterSetID: 'prod' }, c3]);
    await inForce(policy, { changed: ['c2'] });
    await sets.become({ ...OF_BOTH, 'c2-default-app': ['10.6.0.1/32'] });
    await policies.open('db c2 ingress 5432: 10.6.0.1/32');

    await config.write([c2, c3]);
    await sets.become(OF_BOTH);
    await policies.open();
    expect(watches()).toBe(before);
    expect(await isStale(policy)).toBe(0);
  });

  it('uses one family of remotes that share a range, in sets and companions, until it says otherwise', async ({
    config,
    serve,
    pods,
    sets,
    policies,
  }) => {
    const shared = '10.4.0.0/16';
    const c2 = { ...config.c2, allowedPodCIDRs: [shared, 'fd00:4::/48'], families: ['ipv6'] };
    const c3 = { ...config.c3, allowedPodCIDRs: [shared, 'fd00:5::/48'], families: ['ipv6'] };
    await pods.add({ ...IN_C2, ips: ['10.4.0.1', 'fd00:4::1'] }, { ...IN_C3, ips: ['10.4.0.2', 'fd00:5::1'] });
    await policies.add('db', fromApp('c2'));
    await config.write([c2, c3]);
    const policy = await serve('-network-policies');
    const ofC3 = { 'c3-default-app': ['fd00:5::1/128'] };
    await sets.become({ 'c2-default-app': ['fd00:4::1/128'], ...ofC3 });
    await policies.open('db c2 ingress 5432: fd00:4::1/128');

    // Of two remotes, one may have the range.
    await config.write([{ ...c2, families: ['ipv4', 'ipv6'] }, c3]);
    await inForce(policy, { changed: ['c2'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32', 'fd00:4::1/128'], ...ofC3 });
    await policies.open('db c2 ingress 5432: 10.4.0.1/32 10.4.0.2/32 fd00:4::1/128');

    await config.write([{ ...c2, families: ['ipv4'] }, c3]);
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32'], ...ofC3 });
    await policies.open('db c2 ingress 5432: 10.4.0.1/32 10.4.0.2/32');
    expect(await isStale(policy)).toBe(0);
  });

  it('is told if it is invalid, while the old one stays in force', async ({ config, serve, pods, sets }) => {
    const { c2, c3 } = config;
    await pods.add(IN_C2);
    await config.write([c2]);
    const policy = await serve();
    await sets.become(OF_C2);
    const problems = async () => (await statusOf(policy)).configFile.problems;

    await config.write([
      { ...c2, allowedPodCIDRs: ['10.4/16'] },
      { ...c3, colour: 'red' },
    ]);
    await policy.logged(INVALID, { level: 'warn' });
    await eventually(() => isStale(policy), 1);
    expect(await problems()).toEqual([expect.stringContaining('remotes[1]: unknown key colour')]);

    await config.write([
      { ...c2, allowedPodCIDRs: ['10.4/16'] },
      { ...c3, kubeConfigPath: '/none' },
    ]);
    await eventually(problems, (each) => each.some((problem) => problem.includes('remotes[0].allowedPodCIDRs')));

    await config.write([c2, { ...c3, kubeConfigPath: '/none' }]);
    await eventually(problems, (each) => each.some((problem) => problem.includes('remotes[1].kubeConfigPath')));

    const second = labelsOf('other', {
      cluster: 'c3',
      domain: 'policy.semaphore.uw.io',
      managedBy: 'semaphore-policy',
    });
    await sets.add({ name: 'c3-one', labels: labelsOf('app', { cluster: 'c3' }), nets: [] });
    await sets.add({ name: 'c3-two', labels: second, nets: [] });
    await config.write([c2, c3]);
    await eventually(problems, (each) => each.some((problem) => problem.includes('the sets of cluster c3 have')));
    expect((await statusOf(policy)).remotes.map(({ name }) => name)).toEqual(['c2']);
    await pods.relabel('a', 'moved');
    await eventually(async () => (await sets.nets())['c2-default-moved'], ['10.4.0.1/32']);

    // The file is the same: what it names is right by now.
    await sets.remove('c3-two');
    await inForce(policy, { added: ['c3'] });
    await eventually(() => isStale(policy), 0);
    expect(await problems()).toEqual([]);
  });

  it('needs a restart for the local cluster, and says so, while its remotes take effect', async ({
    config,
    serve,
    pods,
    sets,
  }) => {
    const { c2, c3 } = config;
    await pods.add(IN_C2, IN_C3);
    await config.write([c2], { cidrs: ['10.9.0.0/16'] });
    const policy = await serve();
    await sets.become(OF_C2);
    await config.write([c2, c3], { cidrs: ['10.4.0.0/16'] });
    await policy.logged('restart to apply these fields', { level: 'warn' });
    await sets.become(OF_BOTH);
    await eventually(() => isStale(policy), 1);
    expect((await statusOf(policy)).configFile).toMatchObject({ problems: [], needRestart: ['local.cidrs'] });
    // A flag overrides it anyway.
    await config.write([c2, c3], { kubeConfigPath: '/none', cidrs: ['10.9.0.0/16'] });
    await eventually(() => isStale(policy), 0);
  });

  it('needs a restart for other names, if these are the name of the Lease', async ({ config, serve, pods, sets }) => {
    const { c2, c3 } = config;
    await pods.add(IN_C2, IN_C3);
    await config.write([c2]);
    const elect = ['-leader-elect', '-lease-namespace=semaphore-policy'];
    const policy = await serve(...elect);
    await sets.become(OF_C2);
    await config.write([c2, c3]);
    await policy.logged('restart to apply these fields', { level: 'warn' });
    await eventually(() => isStale(policy), 1);
    expect((await statusOf(policy)).configFile.needRestart).toEqual([expect.stringMatching(/^remotes .*-lease-name/)]);
    expect(await syncedOf(policy)).toEqual(['c2']);
    await config.write([{ ...c2, podResyncPeriod: '30m' }]);
    await inForce(policy, { changed: ['c2'] });
    await eventually(() => isStale(policy), 0);
    await policy.stop('SIGTERM');

    const named = await serve(...elect, '-lease-name=semaphore-policy-mine');
    await config.write([c2, c3]);
    await sets.become(OF_BOTH);
    expect((await statusOf(named)).configFile.needRestart).toEqual([]);
  });
});

it('gives the sockets of a hundred removed remotes back', async ({ config, serve }) => {
  const { c2 } = config;
  await config.write([c2]);
  const policy = await serve();
  const files = async () => (await readdir(`/proc/${policy.pid}/fd`)).length;
  const before = await files();
  for (let first = 0; first < 100; first += 25) {
    const many = Array.from({ length: 25 }, (_, i) => ({ ...c2, name: `many-${first + i}` }));
    await config.write([c2, ...many]);
    await eventually(async () => (await syncedOf(policy)).length, 26);
    expect(await files()).toBeGreaterThan(before + 20);
    await config.write([c2]);
    await inForce(policy, { removed: many.map(({ name }) => name) });
  }
  // A scrape and a renewed connection to c2 may be open.
  await eventually(files, (now) => now < before + 20);
  expect(await linesOf(policy, 'many-')).toEqual([]);
});
