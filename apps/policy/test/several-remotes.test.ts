import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { itBehindProxies as it } from './support/it.ts';

describe('one process with several remotes', () => {
  it('keeps the sets of each under its name, and only with addresses that it may announce', async ({
    configFile,
    pods,
    sets,
    startWith,
  }) => {
    await pods.add(
      { name: 'a', app: 'app', ips: ['10.4.0.1'] },
      { name: 'b', app: 'app', ips: ['10.5.0.1', 'fd00::5'] },
    );
    const config = await configFile({ name: 'c2' }, { name: 'c3', allowedPodCIDRs: ['10.5.0.0/16'] });
    const policy = await startWith(['-config', config, '-listen-address=127.0.0.1:0']);
    await sets.become({
      'c2-default-app': ['10.4.0.1/32', '10.5.0.1/32', 'fd00::5/128'],
      'c3-default-app': ['10.5.0.1/32'],
    });
    const warnings = policy
      .log()
      .filter(({ level, msg }) => level === 'warn' && msg.startsWith('remote may announce any address'));
    expect(warnings).toMatchObject([{ cluster: 'c2' }]);
    expect(await policy.metric('semaphore_policy_remote_unrestricted', { remote: 'c2' })).toBe(1);
    expect(await policy.metric('semaphore_policy_remote_unrestricted', { remote: 'c3' })).toBe(0);
    const notAllowed = { remote: 'c3', reason: 'address-not-allowed', kind: 'problem' };
    await eventually(() => policy.metric('semaphore_policy_skipped_objects', notAllowed), 2);
    expect(policy.log().filter(({ msg, cluster }) => msg === 'skipped' && cluster === 'c3')).toHaveLength(2);
  });

  it('refuses addresses of the local cluster, and addresses that no Pod can have', async ({
    configFile,
    pods,
    sets,
    startWith,
  }) => {
    await pods.add(
      { name: 'a', app: 'app', ips: ['10.4.0.1'] },
      { name: 'b', app: 'app', ips: ['10.2.0.1', 'fd00:ec2::254'] },
      { name: 'c', app: 'app', ips: ['169.254.169.254'] },
    );
    const policy = await startWith([
      '-config',
      await configFile({ name: 'c2' }),
      '-local-cidrs=10.2.0.0/16',
      '-listen-address=127.0.0.1:0',
    ]);
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await eventually(
      () => policy.metric('semaphore_policy_skipped_objects', { remote: 'c2', reason: 'bad-address', kind: 'problem' }),
      2,
    );
    await eventually(
      () =>
        policy.metric('semaphore_policy_skipped_objects', {
          remote: 'c2',
          reason: 'address-not-allowed',
          kind: 'problem',
        }),
      1,
    );
  });

  it('serves one remote while another is down, and both when that is back', async ({
    configFile,
    remoteProxy,
    accounts,
    pods,
    sets,
    startWith,
  }) => {
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await remoteProxy.set({ kind: 'refuse' });
    const kubeConfigPath = await remoteProxy.kubeconfig(accounts.remote);
    const config = await configFile({ name: 'c2' }, { name: 'c3', kubeConfigPath });
    const policy = await startWith(['-config', config, '-listen-address=127.0.0.1:0'], { ready: false });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    expect((await policy.get('/readyz')).body).toContain('waiting for the first list of c3');
    await remoteProxy.clear();
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'], 'c3-default-app': ['10.4.0.1/32'] });
    await policy.ready();
  });

  it('warns of overridden fields in its config, and works', async ({ configFile, startWith }) => {
    const policy = await startWith([
      '-config',
      await configFile({ name: 'c2' }, { name: 'c3', remoteAPIURL: 'https://c3' }),
      '-listen-address=127.0.0.1:0',
    ]);
    await policy.logged('remotes[1].remoteAPIURL is ignored: kubeConfigPath overrides it', { level: 'warn' });
    expect(policy.log().filter(({ msg }) => msg.includes('is ignored'))).toHaveLength(1);
  });

  it('gives a name that two of them want to one, in either order', async ({ configFile, pods, sets, startWith }) => {
    // c2 + x-y + app and c2-x + y + app are both c2-x-y-app; the smaller namespace has it.
    await pods.add(
      { name: 'a', namespace: 'x-y', app: 'app', ips: ['10.4.0.1'] },
      { name: 'b', namespace: 'y', app: 'app', ips: ['10.4.0.2'] },
    );
    const config = await configFile({ name: 'c2-x' }, { name: 'c2' });
    await startWith(['-config', config, '-listen-address=127.0.0.1:0']);
    await eventually(async () => (await sets.nets())['c2-x-y-app'], ['10.4.0.1/32']);
    await eventually(async () => (await sets.list()).length, 4);
    const owner = (await sets.list()).find(({ name }) => name === 'c2-x-y-app')?.labels['semaphore.uw.systems/cluster'];
    expect(owner).toBe('c2');
  });

  it('reports every problem of its config at once', async ({ configFile, startWith }) => {
    const config = await configFile({ name: 'C2', allowedPodCIDR: [] }, { name: 'c3' });
    const policy = await startWith(['-config', config, '-target-cluster-name=c2'], { ready: false });
    expect(await policy.exited).toEqual({ code: 2, signal: null });
    expect(policy.stderr()).toContain('exclude each other');
    const alone = await startWith(['-config', config], { ready: false });
    expect(await alone.exited).toEqual({ code: 2, signal: null });
    expect(alone.stderr()).toContain('remotes[0]: unknown key allowedPodCIDR, did you mean allowedPodCIDRs?');
  });
});
