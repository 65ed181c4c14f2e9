// Real: an API server publishes its ranges of Services (ServiceCIDR).
import { expect } from 'vitest';
import { it } from '../support/it.ts';

const pods = [
  { name: 'a', app: 'app', ips: ['10.4.0.1'] },
  { name: 'b', app: 'app', ips: ['10.96.7.7'] },
];
const all = ['10.4.0.1/32', '10.96.7.7/32'];

it('skips addresses in the local Service ranges', async ({ pods: remote, sets, start }) => {
  await remote.add(...pods);
  const policy = await start();
  await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
  const { detail } = await policy.logged('skipped', { level: 'warn', reason: 'address-not-allowed' });
  expect(detail).toBe('10.96.7.7 is in 10.96.0.0/16, a Service range of the local cluster');
});

it('accepts them if a block inside of a range is allowed', async ({ pods: remote, sets, start }) => {
  await remote.add(...pods);
  await start({ 'allowed-pod-cidrs': '10.4.0.0/16,10.96.7.0/24' });
  await sets.become({ 'c2-default-app': all });
});

it('accepts them without the right to read the ranges, and logs what to do', async ({
  local,
  accounts,
  pods: remote,
  sets,
  start,
}) => {
  const { kubeconfig } = await local.account('without-ranges', [
    {
      apiGroups: ['crd.projectcalico.org', 'projectcalico.org'],
      resources: ['globalnetworksets'],
      verbs: ['list', 'watch', 'create', 'update', 'delete'],
    },
  ]);
  expect(kubeconfig).not.toBe(accounts.local.kubeconfig);
  await remote.add(...pods);
  const policy = await start({ 'local-kube-config': kubeconfig });
  await sets.become({ 'c2-default-app': all });
  await policy.logged('ServiceCIDRs of the local cluster cannot be read: name its Service ranges with -local-cidrs', {
    status: 403,
  });
});
