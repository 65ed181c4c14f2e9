import type { PolicyRule, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { localRules, remoteRules } from './support/accounts.ts';
import { it } from './support/it.ts';

const allowing = (verbs: string[]): PolicyRule[] => localRules.map((rule) => ({ ...rule, verbs }));

async function grant({ admin }: TestCluster, role: string, rules: readonly PolicyRule[]): Promise<void> {
  const { status } = await admin.request('PATCH', `/apis/rbac.authorization.k8s.io/v1/clusterroles/${role}`, { rules });
  if (status !== 200) throw new Error(`the role ${role} can't be changed: ${status}`);
}

describe('a local role', () => {
  it('without create causes one warning, and does no harm', async ({ local, pods, sets, start }) => {
    const { kubeconfig } = await local.account('no-create', allowing(['get', 'list', 'watch', 'update', 'delete']));
    await pods.add({ name: 'a', app: 'a', ips: ['10.4.0.1'] }, { name: 'b', app: 'b', ips: ['10.4.0.2'] });
    const policy = await start({ 'local-kube-config': kubeconfig });
    await eventually(() => policy.metric('semaphore_policy_remote_up', { remote: 'local' }), 0);
    await eventually(async () => ((await policy.metric('semaphore_policy_sync_requeue_total')) ?? 0) >= 6, true);
    const complaints = policy.log().filter(({ level }) => level === 'warn' || level === 'error');
    expect(complaints).toHaveLength(1);
    expect(JSON.stringify(complaints)).toContain('403');

    await grant(local, 'no-create', localRules);
    await sets.become({ 'c2-default-a': ['10.4.0.1/32'], 'c2-default-b': ['10.4.0.2/32'] });
    await eventually(() => policy.metric('semaphore_policy_remote_up', { remote: 'local' }), 1);
  });

  it('without watch is enough, as with Go', async ({ local, pods, sets, start }) => {
    const { kubeconfig } = await local.account('as-with-go', allowing(['create', 'delete', 'get', 'list', 'update']));
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] }, { name: 'b', app: 'gone', ips: ['10.4.0.2'] });
    const policy = await start({ 'local-kube-config': kubeconfig });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'], 'c2-default-gone': ['10.4.0.2/32'] });
    await policy.logged('watch is forbidden; listing periodically', {
      cluster: 'local',
    });

    // The process doesn't see this edit, so its write is refused, and it lists again.
    await sets.patch('c2-default-app', { metadata: { annotations: { note: 'mine' } }, spec: { nets: [] } });
    await pods.add({ name: 'c', app: 'app', ips: ['10.4.0.3'] });
    await pods.remove('b');
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.3/32'] });
    expect((await sets.get('c2-default-app')).metadata.annotations).toEqual({ note: 'mine' });
  });

  it('without watch repairs by -full-store-resync-period', async ({ local, pods, sets, start }) => {
    const { kubeconfig } = await local.account('no-watch', allowing(['create', 'delete', 'get', 'list', 'update']));
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await start({ 'local-kube-config': kubeconfig, 'full-store-resync-period': '500ms' });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await sets.patch('c2-default-app', { spec: { nets: ['10.4.0.9/32'] } });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await sets.remove('c2-default-app');
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
  });
});

describe('a remote role', () => {
  it('without rights deletes nothing until it has them', async ({ remote, pods, sets, history, start }) => {
    const { kubeconfig } = await remote.account('nobody', []);
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    const policy = await start({ 'target-kube-config': kubeconfig }, { ready: false });
    const line = await policy.logged('watch failed', { level: 'warn', cluster: 'c2', reason: 'denied' });
    expect(JSON.stringify(line)).toContain('pods is forbidden');
    expect(await policy.metric('semaphore_policy_remote_up', { remote: 'c2' })).toBe(0);

    await grant(remote, 'nobody', remoteRules);
    await policy.ready();
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await history.caughtUp();
    expect(history.deletions()).toEqual([]);
  });

  it('without watch is enough: the process lists', async ({ remote, pods, sets, start }) => {
    const { kubeconfig } = await remote.account(
      'lister',
      remoteRules.map((rule) => ({ ...rule, verbs: ['list'] })),
    );
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    const policy = await start({ 'target-kube-config': kubeconfig });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await policy.logged('watch is forbidden; listing periodically', {
      cluster: 'c2',
    });
  });
});
