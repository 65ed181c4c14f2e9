import { describe, expect } from 'vitest';
import type { Accounts } from './support/accounts.ts';
import { it } from './support/it.ts';

/** Removes the usual flags. */
const noFlags = {
  'local-kube-config': undefined,
  'target-kube-config': undefined,
  'target-cluster-name': undefined,
  'listen-address': undefined,
};

const variables = (prefix: string, { local, remote }: Accounts) => ({
  [`${prefix}_LOCAL_KUBE_CONFIG`]: local.kubeconfig,
  [`${prefix}_TARGET_KUBE_CONFIG`]: remote.kubeconfig,
  [`${prefix}_TARGET_CLUSTER_NAME`]: 'c2',
  SP_LISTEN_ADDRESS: '127.0.0.1:0',
});

describe('the options', () => {
  it('are variables as well as flags', async ({ accounts, pods, sets, start }) => {
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    const policy = await start(noFlags, { env: variables('SP', accounts) });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    expect(policy.log().filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('are read from the variables of the first Go release, with a warning', async ({ accounts, pods, sets, start }) => {
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    const policy = await start(noFlags, { env: variables('KPS', accounts) });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    const warnings = policy
      .log()
      .filter(({ level }) => level === 'warn')
      .map(({ msg }) => msg);
    expect(warnings).toHaveLength(3);
    for (const name of ['LOCAL_KUBE_CONFIG', 'TARGET_KUBE_CONFIG', 'TARGET_CLUSTER_NAME']) {
      expect(warnings).toContainEqual(expect.stringMatching(new RegExp(`KPS_${name}.* SP_${name}`)));
    }
  });

  it('come from the flag, else the variable, else the older variable', async ({ pods, sets, start }) => {
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await start(
      { 'target-cluster-name': undefined },
      {
        env: { SP_TARGET_CLUSTER_NAME: 'new', KPS_TARGET_CLUSTER_NAME: 'old', SP_LISTEN_ADDRESS: 'nonsense' },
      },
    );
    await sets.become({ 'new-default-app': ['10.4.0.1/32'] });
  });
});

describe('a flag', () => {
  it('has the four spellings of Go', async ({ accounts, pods, sets, startWith }) => {
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await startWith([
      '-local-kube-config',
      accounts.local.kubeconfig,
      `-target-kube-config=${accounts.remote.kubeconfig}`,
      '--target-cluster-name',
      'c2',
      '--listen-address=127.0.0.1:0',
    ]);
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
  });
});
