import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { aMinuteAhead } from './support/clock.ts';
import { argvOf, type PolicyFlags, usualFlags } from './support/command-line.ts';
import { it as itWithNetworkPolicies } from './support/it-with-network-policies.ts';
import { fromApp } from './support/user-policies.ts';

/** On a node that is going to be lost. */
const WEB = { name: 'web', namespace: 'beta', app: 'web', labels: { app: 'web' }, ips: ['10.4.0.20'], nodeName: 'n1' };
/** Gets the address of `WEB`. */
const OTHER = { name: 'other', namespace: 'gamma', labels: { app: 'other' }, ips: ['10.4.0.20'], nodeName: 'n2' };
/** A Pod that shows, as it is the last one, that all before it were seen. */
const LAST = { name: 'last', namespace: 'beta', app: 'web', labels: { app: 'web' }, ips: ['10.4.0.99'] };
const SET = 'c2-beta-web';

const it = itWithNetworkPolicies.extend(
  'startAhead',
  ({ accounts, startWith, policies: _policies }) =>
    (flags?: PolicyFlags) =>
      startWith(argvOf({ ...usualFlags(accounts), 'network-policies': 'true', ...flags }), { env: aMinuteAhead }),
);

const skipped = (reason: string, kind = 'problem') =>
  ['semaphore_policy_skipped_objects', { remote: 'c2', kind, reason }] as const;

describe('a Pod of a lost node whose address another Pod has', () => {
  it('is let into no NetworkPolicy, and both Pods are named', async ({ pods, policies, startAhead, ask }) => {
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const policy = await startAhead();
    await policies.open('db c2 ingress 5432: 10.4.0.20/32');
    await pods.lose('beta/web');
    await pods.add(OTHER);
    await policies.open();
    const { detail } = await policy.logged('skipped', { level: 'warn', reason: 'address-reused' });
    expect(detail).toMatch(/^beta\/web should be gone since \S+, and gamma\/other has its address 10\.4\.0\.20 now$/);
    expect(await policy.metric(...skipped('address-reused'))).toBe(1);

    const plan = await ask(['plan'], { 'network-policies': 'true' }, aMinuteAhead);
    expect(plan.stdout).toMatch(
      /beta\/web should be gone since \S+, and gamma\/other has its address 10\.4\.0\.20 now/,
    );

    await policy.stop('SIGTERM');
    const writes = await policies.writes();
    const again = await startAhead();
    await pods.add(LAST);
    await policies.open('db c2 ingress 5432: 10.4.0.99/32');
    expect(await policies.writes()).toBe(writes + 1);
    expect(await again.metric(...skipped('address-reused'))).toBe(1);

    await pods.remove('gamma/other');
    await policies.open('db c2 ingress 5432: 10.4.0.20/32 10.4.0.99/32');
    expect(await again.metric(...skipped('address-reused'))).toBe(0);
    await pods.remove('beta/web');
    await policies.open('db c2 ingress 5432: 10.4.0.99/32');
  });

  it('is in no set, also after a restart', async ({ pods, sets, startAhead }) => {
    await pods.add(WEB, LAST);
    const policy = await startAhead();
    await sets.become({ [SET]: ['10.4.0.20/32', '10.4.0.99/32'] });
    await pods.lose('beta/web');
    await sets.become({ [SET]: ['10.4.0.99/32'] });
    await policy.logged('skipped', { level: 'warn', reason: 'deletion-overdue' });
    await pods.add({ ...OTHER, app: 'other' });
    await sets.become({ [SET]: ['10.4.0.99/32'], 'c2-gamma-other': ['10.4.0.20/32'] });
    await policy.logged('skipped', { level: 'warn', reason: 'address-reused' });

    await policy.stop('SIGTERM');
    await pods.remove('beta/last');
    const again = await startAhead();
    await sets.become({ 'c2-gamma-other': ['10.4.0.20/32'] });
    await eventually(() => again.metric(...skipped('address-reused')), 1);
  });

  it('has no address where only labelled Pods are watched', async ({ pods, policies, startAhead }) => {
    await pods.add(
      { ...WEB, labels: { app: 'web', shared: 'yes' } },
      { ...LAST, labels: { app: 'web', shared: 'yes' } },
    );
    await policies.add('db', fromApp('c2'));
    await startAhead({ 'remote-pod-selector': 'shared=yes' });
    await policies.open('db c2 ingress 5432: 10.4.0.20/32 10.4.0.99/32');
    await pods.lose('beta/web');
    await policies.open('db c2 ingress 5432: 10.4.0.99/32');
  });
});

describe('a Pod that is being deleted', () => {
  it('keeps its access while it has time, also if another Pod has its address', async ({
    pods,
    policies,
    sets,
    startAhead,
  }) => {
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    const policy = await startAhead();
    await policies.open('db c2 ingress 5432: 10.4.0.20/32');
    await pods.lose('beta/web', 3600);
    await pods.add(OTHER);
    await pods.add(LAST);
    await policies.open('db c2 ingress 5432: 10.4.0.20/32 10.4.0.99/32');
    await sets.become({ [SET]: ['10.4.0.20/32', '10.4.0.99/32'] });
    expect(policy.log().filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('keeps its access to NetworkPolicies when it is late, if no other Pod has its address', async ({
    pods,
    policies,
    sets,
    startAhead,
  }) => {
    await pods.add(WEB);
    await policies.add('db', fromApp('c2'));
    await startAhead();
    await sets.become({ [SET]: ['10.4.0.20/32'] });
    await policies.open('db c2 ingress 5432: 10.4.0.20/32');
    await pods.lose('beta/web');
    await sets.become({});
    await pods.add(LAST);
    await policies.open('db c2 ingress 5432: 10.4.0.20/32 10.4.0.99/32');
  });

  it('has no address once Calico took it back', async ({ pods, policies, sets, startAhead }) => {
    await pods.add(WEB, LAST);
    await policies.add('db', fromApp('c2'));
    const policy = await startAhead();
    await pods.annotate('beta/web', { 'cni.projectcalico.org/podIPs': '10.4.0.20/32' });
    await policies.open('db c2 ingress 5432: 10.4.0.20/32 10.4.0.99/32');
    await pods.lose('beta/web', 3600);
    await pods.annotate('beta/web', { 'cni.projectcalico.org/podIPs': '' });
    await policies.open('db c2 ingress 5432: 10.4.0.99/32');
    await sets.become({ [SET]: ['10.4.0.99/32'] });
    await eventually(() => policy.metric(...skipped('address-released', 'expected')), 1);
  });
});
