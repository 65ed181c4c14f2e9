import { eventually } from '@kube-semaphore/eventually';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { describe, expect } from 'vitest';
import { it } from './support/it-with-network-policies.ts';
import { fromApp, peer } from './support/user-policies.ts';

const WEB = { name: 'web', namespace: 'beta', labels: { app: 'web' }, ips: ['10.4.0.20'] };
const OTHER = { ...WEB, name: 'other', ips: ['10.4.0.21'] };

describe('while the API server refuses a companion', () => {
  it('what goes from another companion of the policy goes, and what a user takes away', async ({
    local,
    accounts,
    pods,
    policies,
    start,
  }) => {
    await using proxy = await startFaultProxy(local);
    await pods.add(WEB, OTHER);
    await policies.add('db', fromApp('c2'));
    const policy = await start({ 'local-kube-config': await proxy.kubeconfig(accounts.local) });
    await policies.open('db c2 ingress 5432: 10.4.0.20/32 10.4.0.21/32');
    await proxy.set({ kind: 'answer', status: 403 }, { method: 'POST', target: /\/networkpolicies/ });
    await policies.patch('db', { spec: { policyTypes: ['Ingress', 'Egress'], egress: [{ to: [peer('c2')] }] } });
    await policy.logged('companion not written, retrying');
    await pods.remove('beta/other');
    await policies.open('db c2 ingress 5432: 10.4.0.20/32');
    await policies.patch('db', { spec: { ingress: [{ from: [peer('c2', 'web')], ports: [{ port: 5433 }] }] } });
    await policies.open('db c2 ingress 5433: 10.4.0.20/32');
    await proxy.clear();
    await policies.open('db c2 egress all: 10.4.0.20/32', 'db c2 ingress 5433: 10.4.0.20/32');
    expect(policy.log().filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('in a namespace that is being deleted', () => {
  it('no companion is written again, which the metric says, and what holds the namespace can end', async ({
    local,
    pods,
    policies,
    start,
  }) => {
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const policy = await start();
    await policies.open('db c2 ingress 5432: 10.4.0.20/32');
    await policies.patch('db', { metadata: { finalizers: ['example.com/wait'] } });
    await local.admin.delete('/api/v1/namespaces/alpha');
    const labels = { remote: 'c2', kind: 'expected', reason: 'namespace-terminating' };
    await eventually(() => policy.metric('semaphore_policy_skipped_objects', labels), 1);
    await policies.open();
    await policies.patch('db', { metadata: { finalizers: null } });
    await eventually(() => policy.metric('semaphore_policy_skipped_objects', labels), 0);
    await eventually(async () => (await local.admin.request('GET', '/api/v1/namespaces/alpha')).status, 404);
    expect(policy.log().filter(({ level }) => level === 'error')).toEqual([]);
  });
});
