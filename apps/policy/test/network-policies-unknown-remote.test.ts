import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { itBehindProxy as it } from './support/it-with-network-policies.ts';
import { hasFailed } from './support/remote-state.ts';
import { fromApp, K, peer } from './support/user-policies.ts';

const WEB = { name: 'web', namespace: 'beta', labels: { app: 'web' }, ips: ['10.4.0.20'] };
const WEB_LINE = 'db c2 ingress 5432: 10.4.0.20/32';

const ips = Array.from({ length: 12 }, (_, i) => `10.4.1.${i + 1}`);
const many = ips.map((ip, i) => ({ ...WEB, name: `web-${i}`, ips: [ip] }));
const FULL = `db c2 ingress 5432: ${ips.map((ip) => `${ip}/32`).join(' ')}`;

/** The Pods for NetworkPolicies, from a version on: those for sets have a label. */
const WATCH_OF_PEERS = /\/pods\?(?!.*labelSelector).*[?&]resourceVersion=/;

describe('a remote that is away', () => {
  it('keeps what it was granted, also from the start', async ({ proxy, viaProxy, pods, policies, start }) => {
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const before = await start(viaProxy);
    await policies.open(WEB_LINE);
    await proxy.set({ kind: 'refuse' });
    await hasFailed(before, 'unreachable');
    await before.stop();
    const writes = await policies.writes();
    const policy = await start(viaProxy, { ready: false });
    await hasFailed(policy, 'unreachable');
    await pods.add({ ...WEB, name: 'web-2', ips: ['10.4.0.22'] });
    expect(await policies.writes()).toBe(writes);
    await proxy.clear();
    await policies.open(`${WEB_LINE} 10.4.0.22/32`);
  });

  it('loses at once what a policy takes away, and gets nothing new', async ({
    proxy,
    viaProxy,
    pods,
    policies,
    start,
  }) => {
    await pods.add(WEB, { ...WEB, name: 'other', labels: { app: 'other' }, ips: ['10.4.0.21'] });
    const [web, other] = [peer('c2', 'web'), peer('c2', 'other')];
    const rules = (...ingress: object[]) => ({ spec: { podSelector: { matchLabels: { app: 'db' } }, ingress } });
    await policies.add(
      'db',
      rules({ from: [web], ports: [{ port: 1 }] }, { from: [other], ports: [{ port: 2 }] }).spec,
    );
    await policies.add('cache', fromApp('c2'));
    const policy = await start(viaProxy);
    const cache = 'cache c2 ingress 5432: 10.4.0.20/32';
    await policies.open('db c2 ingress 1: 10.4.0.20/32', 'db c2 ingress 2: 10.4.0.21/32', cache);
    await proxy.set({ kind: 'refuse' });
    await hasFailed(policy, 'unreachable');
    await policy.stop();
    const restarted = await start(viaProxy, { ready: false });
    await hasFailed(restarted, 'unreachable');
    // One rule goes, the other gets another port, and a third one is new.
    await policies.patch(
      'db',
      rules({ from: [web], ports: [{ port: 3 }] }, { from: [peer('c2')], ports: [{ port: 4 }] }),
    );
    await policies.open('db c2 ingress 3: 10.4.0.20/32', cache);
    await policies.remove('cache');
    await policies.open('db c2 ingress 3: 10.4.0.20/32');
    await proxy.clear();
    await policies.open('db c2 ingress 3: 10.4.0.20/32', 'db c2 ingress 4: 10.4.0.20/32 10.4.0.21/32');
  });
});

describe('a remote that lists empty', () => {
  it('at the start loses nothing until that is believed', async ({ proxy, viaProxy, pods, policies, start }) => {
    await pods.add(...many);
    await policies.add('db', fromApp('c2'));
    const before = await start(viaProxy);
    await policies.open(FULL);
    await before.stop();
    await proxy.set({ kind: 'empty' });
    const holding = await start({ ...viaProxy, 'deletion-guard-hold': '1h' });
    await holding.logged('list is missing too many objects; deletions held', { cluster: 'c2', held: 12 });
    expect(await holding.metric('semaphore_policy_held_deletions', { remote: 'c2' })).toBe(12);
    expect(await policies.opened()).toEqual([FULL]);
    await holding.stop();
    const believing = await start({ ...viaProxy, 'deletion-guard-hold': '1s' });
    await believing.logged('list is missing too many objects; deletions held', { cluster: 'c2', held: 12 });
    await policies.open();
  });

  it('while it is watched loses nothing until it is whole again', async ({
    proxy,
    viaProxy,
    remote,
    pods,
    policies,
    start,
  }) => {
    await pods.add(...many);
    await policies.add('db', fromApp('c2'));
    const policy = await start(viaProxy);
    await policies.open(FULL);
    await proxy.set({ kind: 'empty' });
    await proxy.set({ kind: 'answer', status: 410, as: 'event' }, { verb: 'watch', target: WATCH_OF_PEERS, times: 1 });
    await remote.restart();
    await policy.logged('list is missing too many objects; deletions held', { cluster: 'c2' });
    expect(await policies.opened()).toEqual([FULL]);
    await proxy.clear();
    await proxy.set({ kind: 'answer', status: 410, as: 'event' }, { verb: 'watch', target: WATCH_OF_PEERS, times: 1 });
    await remote.restart();
    await eventually(() => policy.metric('semaphore_policy_held_deletions', { remote: 'c2' }), 0);
    expect([...(await policies.everOpened())].filter((line) => line.length < FULL.length)).toEqual([]);
  });
});

describe('a remote that lies', () => {
  it('gets only what its own name and its own addresses are granted', async ({
    viaProxy,
    remote,
    pods,
    policies,
    start,
  }) => {
    await pods.add(
      WEB,
      { ...WEB, name: 'not-allowed', ips: ['10.5.0.1'] },
      { ...WEB, name: 'local', ips: ['10.2.0.1'] },
      { ...WEB, name: 'loopback', ips: ['127.0.0.1'] },
    );
    for (const cluster of ['c1', 'c3']) {
      const { status } = await remote.admin.request('POST', '/api/v1/namespaces', {
        metadata: { name: `says-${cluster}`, labels: { [K]: cluster } },
      });
      expect([201, 409]).toContain(status);
      await pods.add({ ...WEB, name: cluster, namespace: `says-${cluster}`, ips: [`10.4.9.${cluster[1]}`] });
    }
    await policies.add('from-c3', fromApp('c3'));
    await policies.add('from-c1', fromApp('c1'));
    await policies.add('db', fromApp('c2'));
    const policy = await start({
      ...viaProxy,
      'allowed-pod-cidrs': '10.4.0.0/16,10.2.0.0/16',
      'local-cidrs': '10.2.0.0/16',
    });
    // The label is ours to give: its namespaces are all of c2, whatever they say.
    await policies.open(`${WEB_LINE} 10.4.9.1/32 10.4.9.3/32`);
    const count = (reason: string) =>
      policy.metric('semaphore_policy_skipped_objects', { remote: 'c2', kind: 'problem', reason });
    await eventually(() => count('cluster-label-differs'), 2);
    await eventually(() => count('address-not-allowed'), 2);
    await eventually(() => count('bad-address'), 1);
  });
});
