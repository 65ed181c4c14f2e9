import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { it } from './support/it.ts';
import { labelsOf } from './support/sets.ts';

const old = { domain: 'semaphore.uw.systems', managedBy: 'calico-global-network-sync-operator' };
const newer = { domain: 'policy.semaphore.uw.io', managedBy: 'semaphore-policy' };

/** A set of a previous program, with an address that is still right and one that isn't. */
const setOf = (identity: { domain: string; managedBy: string }, name = 'c2-default-app') => ({
  name,
  labels: labelsOf('app', identity),
  nets: ['10.4.0.1/32', '10.4.0.99/32'],
});

describe('existing sets', () => {
  it.for([
    old,
    { domain: 'semaphore.uw.systems', managedBy: 'kube-policy-semaphore' },
    { domain: 'semaphore.uw.systems', managedBy: 'semaphore-policy' },
    { domain: 'policy.semaphore.uw.io', managedBy: 'calico-global-network-sync-operator' },
    newer,
  ])('are taken over with $domain and $managedBy', async (identity, { pods, sets, history, start }) => {
    await sets.add(setOf(identity));
    await pods.add(
      { name: 'a', app: 'app', domain: identity.domain, ips: ['10.4.0.1'] },
      { name: 'b', app: 'other', domain: identity.domain, ips: ['10.4.0.2'] },
    );
    await start();
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'], 'c2-default-other': ['10.4.0.2/32'] });
    expect((await sets.list()).map(({ labels }) => labels)).toEqual([
      labelsOf('app', identity),
      labelsOf('other', identity),
    ]);
    await history.caughtUp();
    expect(history.deletions()).toEqual([]);
    expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
  });

  it('are not written if they are right (Go wrote them hourly)', async ({ pods, sets, history, start }) => {
    await sets.add({ ...setOf(old), nets: ['10.4.0.2/32', '10.4.0.1/32'] });
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] }, { name: 'b', app: 'app', ips: ['10.4.0.2'] });
    await start();
    // Reconciled after everything that existed at the start.
    await pods.add({ name: 'c', app: 'later', ips: ['10.4.0.3'] });
    await sets.become({ 'c2-default-app': ['10.4.0.2/32', '10.4.0.1/32'], 'c2-default-later': ['10.4.0.3/32'] });
    await history.caughtUp();
    expect(history.versions('c2-default-app')).toBe(1);
  });

  it('are deleted when they have no members', async ({ pods, sets, start }) => {
    await sets.add(setOf(old), setOf(old, 'c2-default-gone'));
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await start();
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
  });

  it('are relabelled by -label-domain and -managed-by', async ({ pods, sets, start }) => {
    await sets.add(setOf(old));
    await pods.add({ name: 'a', app: 'app', domain: newer.domain, ips: ['10.4.0.1'] });
    await start({ 'label-domain': newer.domain, 'managed-by': newer.managedBy });
    await eventually(
      () => sets.list(),
      [{ name: 'c2-default-app', labels: labelsOf('app', newer), nets: ['10.4.0.1/32'] }],
    );
  });
});

describe('sets under two identities', () => {
  it('are an error that names both flags, and nothing is written', async ({ pods, sets, history, start }) => {
    await sets.add(setOf(old), setOf(newer, 'c2-default-other'));
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    const policy = await start({}, { ready: false });
    expect(await policy.exited).toEqual({ code: 2, signal: null });
    const said = policy
      .stderr()
      .split('\n')
      .filter((line) => !line.startsWith('{'))
      .join('');
    expect(said).toMatch(/^semaphore-policy: .*-label-domain and -managed-by/);
    for (const word of [...Object.values(old), ...Object.values(newer)]) expect(said).toContain(word);
    expect(said).not.toMatch(/^ +at /m);
    await history.caughtUp();
    expect(history.versions()).toBe(2);
    expect(history.deletions()).toEqual([]);
  });

  it('get one identity by the flags', async ({ pods, sets, start }) => {
    await sets.add(setOf(old), setOf(newer, 'c2-default-other'));
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await start({ 'label-domain': old.domain, 'managed-by': old.managedBy });
    await eventually(
      () => sets.list(),
      [{ name: 'c2-default-app', labels: labelsOf('app', old), nets: ['10.4.0.1/32'] }],
    );
  });
});

describe('a cluster without sets', () => {
  const inNewer = { app: 'app', domain: newer.domain };

  it.for([old, newer])('uses $domain if Pods have it', async (identity, { pods, sets, start }) => {
    await pods.add({ name: 'a', app: 'app', domain: identity.domain, ips: ['10.4.0.1'] });
    await start();
    await eventually(
      () => sets.list(),
      [{ name: 'c2-default-app', labels: labelsOf('app', identity), nets: ['10.4.0.1/32'] }],
    );
  });

  it('waits for the first Pod of either domain, logs that, and does the same after a restart', async ({
    pods,
    sets,
    start,
    plan,
  }) => {
    const first = await start();
    await first.logged('no label domain chosen yet', { cluster: 'c2' });
    await first.stop('SIGTERM');
    const { code, stdout } = await plan();
    expect(code).toBe(0);
    expect(stdout).toContain('no Pod has the label semaphore.uw.systems/name or policy.semaphore.uw.io/name');
    const policy = await start();
    await policy.logged('no label domain chosen yet', { cluster: 'c2' });
    await pods.add({ name: 'a', ...inNewer, ips: ['10.4.0.1'] });
    await eventually(
      () => sets.list(),
      [{ name: 'c2-default-app', labels: labelsOf('app', newer), nets: ['10.4.0.1/32'] }],
    );
    await pods.remove('a');
    await sets.become({});
  });

  it('uses the older domain if Pods have both, and warns of Pods with only the other', async ({
    pods,
    sets,
    start,
    plan,
  }) => {
    await pods.add(
      { name: 'a', app: 'app', ips: ['10.4.0.1'] },
      { name: 'b', app: 'app', domain: [old.domain, newer.domain], ips: ['10.4.0.2'] },
      { name: 'c', ...inNewer, ips: ['10.4.0.3'] },
    );
    const { code, stdout } = await plan();
    expect(code).toBe(0);
    expect(stdout).toContain('create  c2-default-app  10.4.0.1/32 10.4.0.2/32\n');
    expect(stdout).toMatch(/skip {4}label domain: .*: 1\. semaphore\.uw\.systems is used; set -label-domain/);
    const policy = await start();
    await policy.logged('pods skipped that have only the name label of another domain', {
      level: 'warn',
      cluster: 'c2',
      domain: old.domain,
      overlooked: 1,
    });
    await eventually(
      () => sets.list(),
      [{ name: 'c2-default-app', labels: labelsOf('app', old), nets: ['10.4.0.1/32', '10.4.0.2/32'] }],
    );
  });

  it('uses the domain of sets that another program writes', async ({ pods, sets, history, start }) => {
    const policy = await start();
    await policy.logged('no label domain chosen yet', { cluster: 'c2' });
    await sets.add(setOf(newer));
    await policy.logged('local sets listed', { cluster: 'c2', ...newer });
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.9'] }, { name: 'b', ...inNewer, ips: ['10.4.0.1'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await history.caughtUp();
    expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
  });
});

describe('sets of v0.1.0, which have other labels', () => {
  it('are reported at the start and by plan, and stay as they are', async ({ pods, sets, start, plan }) => {
    const labels = { 'managed-by': old.managedBy, 'remote-cluster-name': 'c2', name: 'app', namespace: 'default' };
    await sets.add({ name: 'c2-default-older', labels, nets: ['10.4.0.9/32'] });
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    const { code, stdout } = await plan();
    expect(code).toBe(0);
    expect(stdout).toContain(
      'skip!   sets of v0.1.0: the set c2-default-older has the labels of v0.1.0, so it stays as it is\n',
    );
    const policy = await start();
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'], 'c2-default-older': ['10.4.0.9/32'] });
    await policy.logged('skipped', { level: 'warn', cluster: 'c2', reason: 'first-release' });
    expect(
      await policy.metric('semaphore_policy_skipped_objects', {
        remote: 'c2',
        reason: 'first-release',
        kind: 'problem',
      }),
    ).toBe(1);
  });
});

describe('sets that are not ours', () => {
  const orphan = { name: 'c9-default-app', labels: labelsOf('app', { cluster: 'c9' }), nets: ['10.9.0.1/32'] };
  const foreign = { name: 'net-team', labels: { ...labelsOf('app'), 'managed-by': 'argocd' }, nets: ['192.0.2.0/24'] };

  it('stay as they are, and those of a cluster that is not in the config are counted', async ({
    pods,
    sets,
    start,
  }) => {
    await sets.add(orphan, foreign);
    const before = await Promise.all([sets.get(orphan.name), sets.get(foreign.name)]);
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    const policy = await start();
    await sets.become({ [orphan.name]: orphan.nets, [foreign.name]: foreign.nets, 'c2-default-app': ['10.4.0.1/32'] });
    await pods.remove('a');
    await sets.become({ [orphan.name]: orphan.nets, [foreign.name]: foreign.nets });
    expect(await Promise.all([sets.get(orphan.name), sets.get(foreign.name)])).toEqual(before);

    expect(await policy.metric('semaphore_policy_orphans', { cluster: 'c9' })).toBe(1);
    await sets.remove(orphan.name);
    await eventually(() => policy.metric('semaphore_policy_orphans', { cluster: 'c9' }), 0);
  });
});

describe('sets without a pod in the remote', () => {
  const set = setOf(old);
  const held = [
    'semaphore_policy_skipped_objects',
    { remote: 'c2', kind: 'problem', reason: 'no-pod-matches' },
  ] as const;

  it('stay with a warning until there is one (Go deleted them)', async ({ pods, sets, history, start }) => {
    await sets.add(set, setOf(old, 'c2-default-gone'));
    const policy = await start();
    await eventually(() => policy.metric(...held), 1);
    const warning = await policy.logged('skipped', { level: 'warn', reason: 'no-pod-matches' });
    expect(warning['detail']).toContain('-label-domain');
    expect(await sets.nets()).toEqual({ 'c2-default-app': set.nets, 'c2-default-gone': set.nets });

    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await eventually(() => policy.metric(...held), 0);
    await history.caughtUp();
    expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
  });

  it('are deleted with the last pod, once one was seen', async ({ pods, sets, start }) => {
    await sets.add(set);
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await start();
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await pods.remove('a');
    await sets.become({});
  });
});
