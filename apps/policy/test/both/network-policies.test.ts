// Both: defaults that a server sets must cause no writes without end.
import { eventually } from '@kube-semaphore/eventually';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { deployAccount, globalNetworkSetCrd, longLease, shortLease, startCluster } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { folders } from '../support/accounts.ts';
import { it } from '../support/it-with-network-policies.ts';
import { Sets } from '../support/sets.ts';
import { fromApp, K, peer, UserPolicies } from '../support/user-policies.ts';

const WEB = { name: 'web', namespace: 'beta', labels: { app: 'web' }, ips: ['10.4.0.20'] };
const OTHER = { name: 'other', namespace: 'beta', labels: { app: 'other' }, ips: ['10.4.0.21'] };
const WEB_LINE = 'db c2 ingress 5432: 10.4.0.20/32';

describe('a NetworkPolicy that names another cluster', () => {
  it('gets a companion with the addresses of the Pods that it selects there', async ({ pods, policies, start }) => {
    await pods.add(WEB, OTHER);
    const { metadata } = await policies.add('db', {
      podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['db'] }] },
      ingress: [
        {
          from: [
            {
              namespaceSelector: { matchLabels: { [K]: 'c2', 'kubernetes.io/metadata.name': 'beta' } },
              podSelector: { matchLabels: { app: 'web' } },
            },
          ],
          ports: [{ port: 5432 }],
        },
      ],
    });
    const policy = await start();
    await policies.open(WEB_LINE);
    const [companion] = await policies.companions();
    expect(companion).toMatchObject({
      metadata: {
        name: expect.stringMatching(/^db-c2-ingress-[0-9a-f]{20}$/) as string,
        labels: { 'policy.semaphore.uw.io/cluster': 'c2' },
        annotations: { 'policy.semaphore.uw.io/source-generation': '1' },
        ownerReferences: [{ kind: 'NetworkPolicy', name: 'db', uid: metadata['uid'] }],
      },
      spec: {
        podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['db'] }] },
        policyTypes: ['Ingress'],
        ingress: [{ ports: [{ protocol: 'TCP', port: 5432 }], from: [{ ipBlock: { cidr: '10.4.0.20/32' } }] }],
      },
    });
    await policy.logged('companion created', { addresses: 1 });
    expect(policy.log().filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
    expect(await policies.writes()).toBe(1);
  });

  it('follows Pods that come, move, are relabelled and go', async ({ pods, policies, start }) => {
    await policies.add('db', fromApp('c2'));
    await start();
    await pods.add(WEB, OTHER);
    await policies.open(WEB_LINE);
    await pods.add({ ...WEB, name: 'web-2', ips: ['10.4.0.22', 'fd00:4::22'] });
    await policies.open('db c2 ingress 5432: 10.4.0.20/32 10.4.0.22/32 fd00:4::22/128');
    await pods.setStatus('beta/web', { ips: ['10.4.0.23'] });
    await policies.open('db c2 ingress 5432: 10.4.0.22/32 10.4.0.23/32 fd00:4::22/128');
    await pods.setStatus('beta/web-2', { phase: 'Succeeded' });
    await policies.open('db c2 ingress 5432: 10.4.0.23/32');
    await pods.remove('beta/web');
    await policies.open();
  });

  it('follows the labels of a namespace', async ({ remote, pods, policies, start }) => {
    await pods.add(WEB);
    await policies.add('db', {
      podSelector: {},
      ingress: [{ from: [{ namespaceSelector: { matchLabels: { [K]: 'c2', tier: 'shop' } } }] }],
    });
    await start();
    const label = (tier: string | null) =>
      remote.admin.request('PATCH', '/api/v1/namespaces/beta', { metadata: { labels: { tier } } });
    await label('shop');
    await policies.open('db c2 ingress all: 10.4.0.20/32');
    await label(null);
    await policies.open();
  });

  it('finds clusters by the labels that our config gives them, whatever a remote says', async ({
    remote,
    accounts,
    configFile,
    startWith,
    pods,
    policies,
  }) => {
    const region = 'labels.policy.semaphore.uw.io/region';
    await pods.add(WEB);
    await remote.admin.request('PATCH', '/api/v1/namespaces/beta', { metadata: { labels: { [region]: 'eu' } } });
    const config = await configFile(
      { name: 'c2', labels: { region: 'eu' }, allowedPodCIDRs: ['10.4.0.0/16'] },
      { name: 'c3', labels: { region: 'us' }, allowedPodCIDRs: ['10.5.0.0/16'] },
    );
    const namespaceSelector = {
      matchLabels: { [region]: 'eu' },
      matchExpressions: [{ key: K, operator: 'Exists' }],
    };
    await policies.add('eu', { podSelector: {}, ingress: [{ from: [{ namespaceSelector }] }] });
    namespaceSelector.matchLabels[region] = 'us';
    await policies.add('us', { podSelector: {}, ingress: [{ from: [{ namespaceSelector }] }] });
    const local = `-local-kube-config=${accounts.local.kubeconfig}`;
    await startWith([`-config=${config}`, '-network-policies', local, '-listen-address=127.0.0.1:0']);
    await policies.open('eu c2 ingress all: 10.4.0.20/32');
  });

  it('is watched only while it names the remote', async ({ pods, policies, start }) => {
    await pods.add(WEB);
    await policies.add('local', { podSelector: {}, ingress: [{ from: [{ namespaceSelector: {} }] }] });
    const policy = await start();
    await policies.add('db', fromApp('c2'));
    await policies.open(WEB_LINE);
    await policies.patch('db', { spec: fromApp('c9') });
    await policies.open();
    expect(policy.log().filter(({ msg }) => msg === 'remote pods listed for NetworkPolicies')).toHaveLength(1);
  });

  it('opens the number behind a named port of egress, Pod by Pod', async ({ pods, policies, start }) => {
    await pods.add(
      { ...WEB, ports: { http: 8080 } },
      { ...WEB, name: 'web-2', ips: ['10.4.0.22'], ports: { http: 9090 } },
      { ...WEB, name: 'web-3', ips: ['10.4.0.23'] },
    );
    await policies.add('db', {
      podSelector: {},
      policyTypes: ['Egress'],
      egress: [{ to: [peer('c2', 'web')], ports: [{ port: 'http' }] }],
    });
    const policy = await start();
    await policies.open('db c2 egress 8080: 10.4.0.20/32', 'db c2 egress 9090: 10.4.0.22/32');
    await policies.patch('db', { spec: { egress: [{ to: [peer('c2', 'web')], ports: [{ port: 'grpc' }] }] } });
    await policies.open();
    const missing = { remote: 'c2', kind: 'problem', reason: 'no-such-port' };
    await eventually(() => policy.metric('semaphore_policy_skipped_objects', missing), 1);
  });

  it('is followed at once when somebody changes or deletes it', async ({ pods, policies, start }) => {
    await pods.add(WEB, OTHER);
    await policies.add('db', fromApp('c2'));
    await start();
    await policies.open(WEB_LINE);
    await policies.patch('db', { spec: fromApp('c2', 'web', 5433) });
    await policies.open('db c2 ingress 5433: 10.4.0.20/32');
    await policies.patch('db', { spec: fromApp('c2', 'other') });
    await policies.open('db c2 ingress 5432: 10.4.0.21/32');
    const [companion] = await policies.companions();
    expect(companion!.metadata.annotations).toMatchObject({ 'policy.semaphore.uw.io/source-generation': '3' });
    await policies.remove('db');
    await policies.open();
  });

  it('keeps its name for others', async ({ pods, policies, start }) => {
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const before = await start();
    await policies.open(WEB_LINE);
    const [{ metadata }] = (await policies.companions()) as [Awaited<ReturnType<typeof policies.get>>];
    await before.stop();
    await policies.remove(metadata.name);
    await policies.add(metadata.name, { podSelector: {}, policyTypes: ['Ingress'] });
    const { metadata: theirs } = await policies.get(metadata.name);
    const policy = await start();
    await policies.open(WEB_LINE);
    await policy.logged('skipped', { reason: 'name-taken' });
    expect((await policies.get(metadata.name)).metadata['resourceVersion']).toBe(theirs['resourceVersion']);
  });
});

describe('the NetworkPolicies that name other clusters', () => {
  it('are counted for each remote, and the clusters that are not configured once each', async ({ policies, start }) => {
    await policies.add('local', { podSelector: {}, ingress: [{ from: [{ namespaceSelector: {} }] }] });
    await policies.add('db', fromApp('c2'));
    const policy = await start();
    const counts = async () => {
      const [c2, unknown] = await Promise.all([
        policy.metric('semaphore_policy_extended_policies', { remote: 'c2' }),
        policy.metric('semaphore_policy_unknown_clusters'),
      ]);
      return { c2, unknown };
    };
    await eventually(counts, { c2: 1, unknown: 0 });
    await policies.add('many', { podSelector: {}, ingress: [{ from: ['c2', 'c8', 'c9'].map((name) => peer(name)) }] });
    await policies.add('unknown', fromApp('c9'));
    await eventually(counts, { c2: 2, unknown: 2 });
    await policies.remove('many');
    await eventually(counts, { c2: 1, unknown: 1 });
    await policies.patch('db', { spec: fromApp('c9') });
    await policies.remove('unknown');
    await eventually(counts, { c2: 0, unknown: 1 });
  });
});

describe('a companion', () => {
  it('that somebody edits or deletes is put right', async ({ pods, policies, start }) => {
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const policy = await start();
    await policies.open(WEB_LINE);
    const [{ metadata }] = (await policies.companions()) as [Awaited<ReturnType<typeof policies.get>>];
    const repairs = () => policy.metric('semaphore_policy_repairs_total', { remote: 'c2' });
    await policies.patch(metadata.name, {
      spec: { podSelector: { matchLabels: { app: 'all' } }, ingress: [{ from: [{ ipBlock: { cidr: '0.0.0.0/0' } }] }] },
    });
    await policies.open(WEB_LINE);
    await eventually(repairs, 1);
    expect((await policies.get(metadata.name))['spec']).toMatchObject({ podSelector: { matchLabels: { app: 'db' } } });
    await policies.patch(metadata.name, { metadata: { annotations: { note: 'mine' }, ownerReferences: null } });
    await eventually(() => policies.owners(), ['db']);
    expect((await policies.get(metadata.name)).metadata.annotations).toMatchObject({ note: 'mine' });
    await policies.remove(metadata.name);
    await policies.open(WEB_LINE);
    await eventually(repairs, 3);
  });

  it('is listed again for each -full-store-resync-period', async ({ local, accounts, start, onTestFinished }) => {
    const proxy = await startFaultProxy(local);
    onTestFinished(() => proxy.stop());
    await start({ 'local-kube-config': await proxy.kubeconfig(accounts.local), 'full-store-resync-period': '100ms' });
    // Without WatchList (before 1.32), it is a list.
    const isList = ({ target }: { readonly target: string }) =>
      target.includes('/networkpolicies?') &&
      (target.includes('sendInitialEvents=true') || !target.includes('watch=1'));
    await eventually(() => proxy.requests().filter(isList).length >= 3, true);
  });

  it('without a source is deleted at the start', async ({ pods, policies, start }) => {
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const before = await start();
    await policies.open(WEB_LINE);
    const [{ metadata }] = (await policies.companions()) as [Awaited<ReturnType<typeof policies.get>>];
    await before.stop();
    // Without an owner, no garbage collector deletes it.
    await policies.patch(metadata.name, { metadata: { ownerReferences: null } });
    await policies.remove('db');
    expect(await policies.opened()).toEqual([WEB_LINE]);
    await start();
    await policies.open();
  });

  it('has the addresses of one remote, and that process writes it alone', async ({ pods, policies, start }) => {
    await pods.add(WEB);
    await policies.add('db', {
      podSelector: {},
      ingress: [{ from: [{ namespaceSelector: { matchExpressions: [{ key: K, operator: 'Exists' }] } }] }],
    });
    const policy = await start();
    await start({ 'target-cluster-name': 'c3' });
    const lines = ['db c2 ingress all: 10.4.0.20/32', 'db c3 ingress all: 10.4.0.20/32'];
    await policies.open(...lines);
    await pods.add({ ...WEB, name: 'web-2', ips: ['10.4.0.22'] });
    await policies.open(...lines.map((line) => `${line} 10.4.0.22/32`));
    expect(await policies.writes()).toBe(4);
    await eventually(() => policy.metric('semaphore_policy_orphans', { cluster: 'c3' }), 1);
    await policies.remove('db');
    await eventually(() => policy.metric('semaphore_policy_orphans', { cluster: 'c3' }), 0);
  });
});

describe('plan', () => {
  it('shows the companions that would be written, and writes none', async ({ pods, policies, plan, start }) => {
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const flags = { 'network-policies': 'true' };
    const { code, stdout } = await plan(flags);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^create {2}NetworkPolicy alpha\/db-c2-ingress-[0-9a-f]{20} {2}10\.4\.0\.20\/32$/m);
    expect(await policies.opened()).toEqual([]);
    await start();
    await policies.open(WEB_LINE);
    expect((await plan(flags)).stdout).toMatch(/^Nothing to change\.\n\nc2: 0 sets and 1 companion now$/m);
  });
});

describe('a label of local namespaces', () => {
  it('is reported where it is missing, or names a remote', async ({ local, pods, policies, plan, start }) => {
    await pods.add(WEB);
    await policies.add('db', {
      podSelector: {},
      ingress: [
        { from: [{ namespaceSelector: { matchExpressions: [{ key: K, operator: 'NotIn', values: ['c1'] }] } }] },
      ],
    });
    const label = (value: string | null) =>
      local.admin.request('PATCH', '/api/v1/namespaces/alpha', { metadata: { labels: { [K]: value } } });
    await label('c2');
    const flags = { 'network-policies': 'true', 'local-cluster-name': 'c1' };
    const { stdout } = await plan(flags);
    expect(stdout).toMatch(/^the local cluster:\nopen {4}alpha\/db: ingress on all ports from every remote /m);
    expect(stdout).toMatch(/^skip! {3}NetworkPolicy alpha\/db: it excludes the cluster c1, but /m);
    expect(stdout).toMatch(/^skip! {3}namespace alpha: the label \S+ says that it is of the remote c2: /m);
    const policy = await start(flags);
    const count = () => {
      const reason = 'local-namespace-of-remote';
      return policy.metric('semaphore_policy_skipped_objects', { remote: 'local', kind: 'problem', reason });
    };
    await eventually(count, 1);
    await label(null);
    await eventually(count, 0);
  });
});

describe('cleanup', () => {
  it('removes the companions of a cluster, and nothing else', async ({
    accounts,
    pods,
    policies,
    start,
    startWith,
  }) => {
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    await policies.add('db-3', fromApp('c3'));
    const [c2, c3] = [await start(), await start({ 'target-cluster-name': 'c3' })];
    const line3 = 'db-3 c3 ingress 5432: 10.4.0.20/32';
    await policies.open(WEB_LINE, line3);
    await Promise.all([c2.stop(), c3.stop()]);
    const cleanup = await startWith(
      ['cleanup', '-cluster=c2', '-yes', '-network-policies', `-local-kube-config=${accounts.local.kubeconfig}`],
      { ready: false },
    );
    expect(await cleanup.exited).toEqual({ code: 0, signal: null });
    expect(await policies.opened()).toEqual([line3]);
  });
});

describe('a cluster without Calico', () => {
  it('has companions, and sets as soon as Calico is installed', async ({ pods, start, onTestFinished }) => {
    const bare = await startCluster({ name: 'bare' });
    onTestFinished(() => bare.stop());
    const account = await deployAccount(bare, folders.local, folders.networkPolicies);
    const policies = await UserPolicies.start(bare, account.token);
    const proxy = await startFaultProxy(bare);
    onTestFinished(() => proxy.stop());
    await pods.add({ ...WEB, app: 'web' });
    await policies.add('db', fromApp('c2'));
    const policy = await start({ 'local-kube-config': await proxy.kubeconfig(account) });
    await policies.open(WEB_LINE);
    expect((await policy.get('/readyz')).status).toBe(200);
    expect(await policy.metric('semaphore_policy_remote_up', { remote: 'local' })).toBe(1);
    const { local } = JSON.parse((await policy.get('/status')).body) as { local: { lastSync: string | null } };
    expect(local.lastSync).not.toBeNull();
    expect(policy.log().filter(({ level }) => level === 'warn')).toEqual([]);
    await bare.defineResource(globalNetworkSetCrd('crd.projectcalico.org'));
    await new Sets(bare).become({ 'c2-beta-web': ['10.4.0.20/32'] });
    expect(policy.log().filter(({ level }) => level === 'warn')).toEqual([]);
    expect(await policies.opened()).toEqual([WEB_LINE]);
    await policies.clear();
  });
});

describe('limits', () => {
  it('divide many addresses into shards, and rewrite one for one Pod', async ({ pods, policies, start }) => {
    const ips = Array.from({ length: 25 }, (_, i) => `10.4.1.${i + 1}`);
    await pods.add(...ips.map((ip, i) => ({ ...WEB, name: `web-${i}`, ips: [ip] })));
    await policies.add('db', fromApp('c2'));
    await start({ 'max-addresses-per-policy': 10 });
    const sizes = async () =>
      (await policies.opened()).map((line) => line.split(' ').length - 4).toSorted((a, b) => a - b);
    await eventually(sizes, [5, 10, 10]);
    const before = await policies.writes();
    await pods.add({ ...WEB, name: 'one-more', ips: ['10.4.2.1'] });
    await eventually(sizes, [6, 10, 10]);
    expect((await policies.writes()) - before).toBe(1);
  });

  it('stop the growth of one policy, and say so', async ({ pods, policies, start }) => {
    await pods.add(WEB, { ...WEB, name: 'web-2', ips: ['10.4.0.22'] });
    await policies.add('db', fromApp('c2'));
    const policy = await start({ 'max-addresses-per-source': 2 });
    await policies.open(`${WEB_LINE} 10.4.0.22/32`);
    await pods.add({ ...WEB, name: 'web-3', ips: ['10.4.0.19'] });
    const tooMany = { remote: 'c2', kind: 'problem', reason: 'too-many-addresses' };
    await eventually(() => policy.metric('semaphore_policy_skipped_objects', tooMany), 1);
    expect(await policies.opened()).toEqual([`${WEB_LINE} 10.4.0.22/32`]);
    await pods.remove('beta/web-2');
    await policies.open('db c2 ingress 5432: 10.4.0.19/32 10.4.0.20/32');
  });

  it('keep the Pods without the labels of -remote-pod-selector out', async ({ pods, policies, start }) => {
    await pods.add(WEB, { ...WEB, name: 'web-2', labels: { ...WEB.labels, shared: 'yes' }, ips: ['10.4.0.22'] });
    await policies.add('db', fromApp('c2'));
    await start({ 'remote-pod-selector': 'shared=yes' });
    await policies.open('db c2 ingress 5432: 10.4.0.22/32');
  });
});

describe('two replicas', () => {
  it('have one writer, and the other takes over with what it knows', async ({ pods, policies, start, task }) => {
    const lease = { ...shortLease(`semaphore-policy-${task.id}`), ...longLease, 'lease-namespace': 'semaphore-policy' };
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const first = await start(lease);
    await first.logged('started leading');
    const second = await start(lease);
    await policies.open(WEB_LINE);
    expect(second.log().filter(({ msg }) => msg.startsWith('companion '))).toEqual([]);
    expect(await first.stop('SIGTERM')).toMatchObject({ code: 0 });
    await pods.add({ ...WEB, name: 'web-2', ips: ['10.4.0.22'] });
    await policies.patch('db', { spec: fromApp('c2', 'web', 5433) });
    await policies.open('db c2 ingress 5433: 10.4.0.20/32 10.4.0.22/32');
  });

  it('show on the standby that a companion is behind its source while the leader hangs', async ({
    pods,
    policies,
    start,
    task,
  }) => {
    const lease = { ...shortLease(`semaphore-policy-${task.id}`), ...longLease, 'lease-namespace': 'semaphore-policy' };
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const leader = await start(lease);
    await leader.logged('started leading');
    const standby = await start(lease);
    await policies.open(WEB_LINE);
    const behind = () => standby.metric('semaphore_policy_companions_behind', { remote: 'c2' });
    await eventually(behind, 0);
    leader.signal('SIGSTOP');
    await policies.patch('db', { spec: fromApp('c2', 'web', 5433) });
    await eventually(behind, 1);
    expect(await policies.opened()).toEqual([WEB_LINE]);
    leader.signal('SIGCONT');
    await policies.open('db c2 ingress 5433: 10.4.0.20/32');
    await eventually(behind, 0);
  });
});
