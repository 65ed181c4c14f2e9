// Real: an API server publishes its ranges of Services (ServiceCIDR).
import { expect } from 'vitest';
import { it } from '../support/it.ts';

it('endpoints of a remote never have an address in the local Service ranges', async ({ sources, mirrors, start }) => {
  await sources.add({ name: 'web', namespace: 'default' });
  await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1', '10.96.7.7'] });
  const program = await start({ 'allowed-pod-cidrs': undefined });
  await mirrors.become({ 'c2-default-73736d-web': ['10.4.0.1'] });
  const { detail } = await program.logged('skipped', { level: 'warn', reason: 'address-not-allowed' });
  expect(detail).toBe('10.96.7.7 is in 10.96.0.0/16, a Service range of the local cluster');
});
