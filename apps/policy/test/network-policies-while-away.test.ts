import { eventually } from '@kube-semaphore/eventually';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { describe, expect } from 'vitest';
import { it as itWithNetworkPolicies } from './support/it-with-network-policies.ts';
import { fromApp, peer, type UserPolicies } from './support/user-policies.ts';

/** A test with a fault proxy before the local cluster, and the flags for a policy behind it. */
const it = itWithNetworkPolicies
  .extend('proxy', async ({ local }, { onCleanup }) => {
    const proxy = await startFaultProxy(local);
    onCleanup(() => proxy.stop());
    return proxy;
  })
  .extend('viaProxy', async ({ proxy, accounts }) => ({ 'local-kube-config': await proxy.kubeconfig(accounts.local) }));

const WEB = { name: 'web', namespace: 'beta', labels: { app: 'web' }, ips: ['10.4.0.20'] };

const both = {
  podSelector: { matchLabels: { app: 'db' } },
  policyTypes: ['Ingress', 'Egress'],
  ingress: [{ from: [peer('c2', 'web')], ports: [{ port: 1 }] }],
  egress: [{ to: [peer('c2', 'web')], ports: [{ port: 2 }] }],
};

const narrow = { matchLabels: { app: 'db', tier: 'gold' } };

const BEFORE = [
  'port c2 ingress 5432: 10.4.0.20/32',
  'direction c2 ingress 1: 10.4.0.20/32',
  'direction c2 egress 2: 10.4.0.20/32',
  'selector c2 ingress 5432: 10.4.0.20/32',
];

/** Which Pods the companion of the policy `selector` selects. */
async function selected(policies: UserPolicies): Promise<unknown> {
  const companions = await policies.companions();
  const found = companions.find(({ metadata }) => metadata.name.startsWith('selector-'));
  return (found?.['spec'] as { readonly podSelector?: unknown } | undefined)?.podSelector;
}

describe('what a policy takes away while the program is stopped', () => {
  it('stays granted, and counts as behind from the start until the companion is written', async ({
    proxy,
    viaProxy,
    pods,
    policies,
    start,
  }) => {
    await pods.add(WEB);
    await policies.add('port', fromApp('c2'));
    await policies.add('direction', both);
    await policies.add('selector', fromApp('c2'));
    const before = await start(viaProxy);
    await policies.open(...BEFORE);
    expect(await before.stop('SIGTERM')).toMatchObject({ code: 0 });

    await policies.patch('port', { spec: fromApp('c2', 'web', 5433) });
    await policies.patch('direction', { spec: { policyTypes: ['Ingress'], egress: null } });
    await policies.patch('selector', { spec: { podSelector: narrow } });
    const unchanged = async () => {
      expect(await policies.opened()).toEqual(BEFORE.toSorted());
      expect(await selected(policies)).toEqual({ matchLabels: { app: 'db' } });
    };
    await unchanged();

    // It is back, and knows that they are behind, but can't write yet.
    const companions = { target: /\/namespaces\/alpha\/networkpolicies/ } as const;
    for (const method of ['POST', 'PUT', 'DELETE'])
      await proxy.set({ kind: 'answer', status: 500 }, { ...companions, method });
    const policy = await start(viaProxy);
    const behind = () => policy.metric('semaphore_policy_companions_behind', { remote: 'c2' });
    await eventually(behind, 4);
    await unchanged();
    await proxy.clear();
    await policies.open(
      'port c2 ingress 5433: 10.4.0.20/32',
      'direction c2 ingress 1: 10.4.0.20/32',
      'selector c2 ingress 5432: 10.4.0.20/32',
    );
    await eventually(() => selected(policies), narrow);
    await eventually(behind, 0);
  });
});
