import { eventually } from '@kube-semaphore/eventually';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { describe, expect } from 'vitest';
import { folders } from './support/accounts.ts';
import { itBehindProxy } from './support/it-with-network-policies.ts';
import { permissiveCrd } from './support/permissive-crd.ts';
import { fromApp } from './support/user-policies.ts';

const CALICO = {
  group: 'crd.projectcalico.org',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
} as const;
const POLICIES = '/apis/crd.projectcalico.org/v1/networkpolicies';

/** What an API server answers that has just started: the groups of CRDs come a moment later. */
const WITHOUT_CALICO = {
  kind: 'APIGroupList',
  groups: ['apps', 'networking.k8s.io'].map((name) => ({ name, versions: [{ version: 'v1' }] })),
};
const NO_API = 'the cluster has no API of Calico, so no sets are written until it has one';

/** A test on a local cluster with Calico, whose API server names its groups late. */
const it = itBehindProxy
  .extend('components', { scope: 'file' }, () => [folders.calico])
  .extend('sink', { scope: 'file', auto: true }, async ({ local }) => {
    await local.defineResource(permissiveCrd({ ...CALICO, scope: 'Namespaced' }));
  })
  .extend('localProxy', async ({ local }, { onCleanup }) => {
    const proxy = await startFaultProxy(local);
    onCleanup(() => proxy.stop());
    return proxy;
  })
  .extend('viaLocalProxy', async ({ localProxy, accounts }) => {
    await localProxy.set({ kind: 'answer', status: 200, body: WITHOUT_CALICO }, { target: /^\/apis$/ });
    return { 'local-kube-config': await localProxy.kubeconfig(accounts.local) };
  });

const WEB = { name: 'web', namespace: 'beta', app: 'web', labels: { app: 'web' }, ips: ['10.4.0.20'] };
const LINE = 'db c2 ingress 5432: 10.4.0.20/32';

describe('an API server that names the groups of Calico after we asked', () => {
  it('gets sets without a restart, and its companions stay', async ({
    localProxy,
    viaLocalProxy,
    pods,
    policies,
    sets,
    start,
  }) => {
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const policy = await start(viaLocalProxy);
    await policies.open(LINE);
    await policy.logged(NO_API);
    expect(await sets.nets()).toEqual({});
    await localProxy.clear();
    await sets.become({ 'c2-beta-web': ['10.4.0.20/32'] });
    await pods.setStatus('beta/web', { ips: ['10.4.0.21'] });
    await sets.become({ 'c2-beta-web': ['10.4.0.21/32'] });
    await policies.open('db c2 ingress 5432: 10.4.0.21/32');
    expect([...(await policies.everOpened())].toSorted()).toEqual([LINE, 'db c2 ingress 5432: 10.4.0.21/32']);
    expect((await policy.get('/readyz')).status).toBe(200);
    expect(await policy.metric('semaphore_policy_remote_up', { remote: 'local' })).toBe(1);
    expect(await policy.stop('SIGTERM')).toMatchObject({ code: 0 });
  });

  it('loses no set of a remote that lists empty', async ({
    localProxy,
    viaLocalProxy,
    proxy,
    viaProxy,
    remote,
    pods,
    sets,
    start,
  }) => {
    const ips = Array.from({ length: 12 }, (_, i) => `10.4.0.${i + 1}`);
    await pods.add(...ips.map((ip, i) => ({ ...WEB, name: `web-${i}`, ips: [ip] })));
    const before = await start();
    const full = { 'c2-beta-web': ips.map((ip) => `${ip}/32`) };
    await sets.become(full);
    await before.stop();
    await proxy.set({ kind: 'empty' });
    const policy = await start({ ...viaLocalProxy, ...viaProxy, 'deletion-guard-hold': '1h' });
    await policy.logged(NO_API);
    await policy.logged('no label domain chosen yet', { cluster: 'c2' });
    await localProxy.clear();
    await policy.logged('list is missing too many objects; deletions held', { cluster: 'c2', held: 12 });
    expect(await sets.nets()).toEqual(full);
    await proxy.clear();
    await remote.restart();
    await pods.add({ ...WEB, name: 'one-more', ips: ['10.4.1.1'] });
    await sets.become({ 'c2-beta-web': [...full['c2-beta-web'], '10.4.1.1/32'] });
  });

  it('loses what another sink left there', async ({ localProxy, viaLocalProxy, local, pods, policies, start }) => {
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const before = await start({ 'network-policy-sink': 'calico', 'calico-api': 'crd.projectcalico.org/v1' });
    await eventually(async () => (await local.admin.list(POLICIES)).length, 1);
    await before.stop();
    const policy = await start(viaLocalProxy);
    await policies.open(LINE);
    await policy.logged(NO_API);
    expect(await local.admin.list(POLICIES)).toHaveLength(1);
    await localProxy.clear();
    await eventually(() => local.admin.list(POLICIES), []);
    await policies.open(LINE);
  });
});

it('asks for the API groups once if Calico is there', async ({ localProxy, viaLocalProxy, sets, pods, start }) => {
  await localProxy.clear();
  await pods.add(WEB);
  await start(viaLocalProxy);
  await sets.become({ 'c2-beta-web': ['10.4.0.20/32'] });
  expect(localProxy.requests().filter(({ target }) => target === '/apis')).toHaveLength(1);
});
