import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { it } from './support/it.ts';
import { labelsOf } from './support/sets.ts';

const ofNode = { name: 'on-node', app: 'app', ips: ['192.168.0.1'], hostNetwork: true };
const ofPod = { name: 'plain', app: 'app', ips: ['10.4.0.1'] };
const leftByGo = { name: 'c2-default-app', labels: labelsOf('app'), nets: ['10.4.0.1/32', '192.168.0.1/32'] };

const skipped = (kind: string, reason: string) =>
  ['semaphore_policy_skipped_objects', { remote: 'c2', kind, reason }] as const;

describe('a pod with hostNetwork', () => {
  it('is not a member (Go allowed its whole node)', async ({ pods, sets, start }) => {
    await pods.add(ofNode, ofPod);
    const policy = await start();
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await eventually(() => policy.metric(...skipped('expected', 'host-network')), 1);
  });

  it('gets no set of its own (Go made one)', async ({ pods, sets, start }) => {
    await pods.add(ofNode, { ...ofPod, app: 'other' });
    await start();
    await sets.become({ 'c2-default-other': ['10.4.0.1/32'] });
  });

  it('is a member with -host-network-pods=include, as with Go', async ({ pods, sets, start }) => {
    await pods.add(ofNode, ofPod);
    await start({ 'host-network-pods': 'include' });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '192.168.0.1/32'] });
  });
});

describe('an address that a Go program put into a set', () => {
  it('stays, with a warning, until a flag decides', async ({ pods, sets, start }) => {
    const newcomer = { ...ofNode, name: 'on-other-node', ips: ['192.168.0.2'] };
    await pods.add(ofNode, ofPod, newcomer);
    await sets.add(leftByGo);
    const policy = await start();
    // Written after both pods on nodes were read.
    await pods.add({ ...ofPod, name: 'another', ips: ['10.4.0.2'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32', '192.168.0.1/32'] });

    const warning = await policy.logged('skipped', { level: 'warn', reason: 'host-network-kept' });
    expect(warning['detail']).toContain('-host-network-pods');
    expect(await policy.metric(...skipped('problem', 'host-network-kept'))).toBe(1);
    expect(await policy.metric(...skipped('expected', 'host-network'))).toBe(1);
  });

  it('goes with its pod', async ({ pods, sets, start }) => {
    await pods.add(ofNode, ofPod);
    await sets.add(leftByGo);
    const policy = await start();
    await policy.logged('skipped', { reason: 'host-network-kept' });
    await pods.remove('on-node');
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    expect(await policy.metric(...skipped('problem', 'host-network-kept'))).toBe(0);
  });

  it('goes with -host-network-pods=exclude', async ({ pods, sets, history, start }) => {
    await pods.add(ofNode, ofPod);
    await sets.add(leftByGo);
    await start({ 'host-network-pods': 'exclude' });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await history.caughtUp();
    expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
  });

  it('stays with -host-network-pods=include, without a warning', async ({ pods, sets, start }) => {
    await pods.add(ofNode, ofPod);
    await sets.add(leftByGo);
    const policy = await start({ 'host-network-pods': 'include' });
    await pods.add({ ...ofPod, name: 'another', ips: ['10.4.0.2'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32', '192.168.0.1/32'] });
    expect(policy.log().filter(({ level }) => level === 'warn')).toEqual([]);
  });
});
