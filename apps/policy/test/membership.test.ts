import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { itWithPolicy as it } from './support/it.ts';
import { labelsOf } from './support/sets.ts';

describe('a pod', () => {
  it('gets a set with the documented name, labels and nets', async ({ policy, pods, sets }) => {
    await pods.add({ name: 'my-app-1', namespace: 'my-ns', app: 'my-app', ips: ['10.4.1.38'] });
    await sets.become({ 'c2-my-ns-my-app': ['10.4.1.38/32'] });
    const { apiVersion, kind, metadata, spec } = await sets.get('c2-my-ns-my-app');
    expect({ apiVersion, kind, spec }).toEqual({
      apiVersion: 'crd.projectcalico.org/v1',
      kind: 'GlobalNetworkSet',
      spec: { nets: ['10.4.1.38/32'] },
    });
    expect(metadata.labels).toEqual({
      'managed-by': 'calico-global-network-sync-operator',
      'semaphore.uw.systems/name': 'my-app',
      'semaphore.uw.systems/namespace': 'my-ns',
      'semaphore.uw.systems/cluster': 'c2',
    });
    expect(metadata.annotations).toBeUndefined();
    expect(policy.stderr()).not.toContain('"level":"error"');
  });

  it('without the name label is in no set', async ({ pods, sets }) => {
    await pods.add({ name: 'nobody', ips: ['10.4.0.9'] }, { name: 'somebody', app: 'app', ips: ['10.4.0.1'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
  });

  it('is in its set as soon as it has an address', async ({ policy, pods, sets }) => {
    await pods.add({ name: 'late', app: 'app' }, { name: 'early', app: 'app', ips: ['10.4.0.1'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    const skipped = { remote: 'c2', reason: 'no-address', kind: 'expected' };
    await eventually(() => policy.metric('semaphore_policy_skipped_objects', skipped), 1);
    await pods.setStatus('late', { ips: ['10.4.0.2'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32'] });
  });

  it('leaves its set when it is gone, and the set goes with the last pod', async ({ pods, sets }) => {
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] }, { name: 'b', app: 'app', ips: ['10.4.0.2'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32'] });
    await pods.remove('a');
    await sets.become({ 'c2-default-app': ['10.4.0.2/32'] });
    await pods.remove('b');
    await sets.become({});
  });

  it.for(['Succeeded', 'Failed'] as const)(
    'that %s is not a member (Go kept its address)',
    async (phase, { pods, sets }) => {
      await pods.add({ name: 'job', app: 'app', ips: ['10.4.0.1'] }, { name: 'server', app: 'app', ips: ['10.4.0.2'] });
      await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32'] });
      await pods.setStatus('job', { phase });
      await sets.become({ 'c2-default-app': ['10.4.0.2/32'] });
    },
  );

  it('that was deleted and created again is a member again', async ({ pods, sets }) => {
    await pods.add({ name: 'db-0', app: 'db', ips: ['10.4.0.1'] });
    await sets.become({ 'c2-default-db': ['10.4.0.1/32'] });
    await pods.remove('db-0');
    await pods.add({ name: 'db-0', app: 'db', ips: ['10.4.0.2'] });
    await sets.become({ 'c2-default-db': ['10.4.0.2/32'] });
  });
});

describe('the name label', () => {
  it('moves the address when its value changes (Go left it in the old set)', async ({ pods, sets, history }) => {
    await pods.add({ name: 'a', app: 'old', ips: ['10.4.0.1'] }, { name: 'b', app: 'old', ips: ['10.4.0.2'] });
    await sets.become({ 'c2-default-old': ['10.4.0.1/32', '10.4.0.2/32'] });
    await pods.relabel('a', 'new');
    await sets.become({ 'c2-default-new': ['10.4.0.1/32'], 'c2-default-old': ['10.4.0.2/32'] });
    await history.caughtUp();
    expect(history.gaps('old', ['10.4.0.2/32'])).toEqual([]);
  });

  it('removes the set when the last pod loses it', async ({ pods, sets }) => {
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await pods.relabel('a', null);
    await sets.become({});
    await pods.relabel('a', 'app');
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
  });
});

describe('an address', () => {
  it('of either family is in the set, IPv4 first (Go used the first one, as /32)', async ({ pods, sets }) => {
    await pods.add(
      { name: 'four', app: 'app', ips: ['10.4.1.38', 'fd00::26'] },
      { name: 'six', app: 'app', ips: ['fd00::4', '10.4.0.7'] },
      { name: 'six-only', app: 'app', ips: ['fd00::5'] },
    );
    await sets.become({
      'c2-default-app': ['10.4.0.7/32', '10.4.1.38/32', 'fd00::4/128', 'fd00::5/128', 'fd00::26/128'],
    });
    expect((await sets.get('c2-default-app')).metadata.labels).toEqual(labelsOf('app'));
  });

  it('stays until all pods with it are gone (Go did not wait)', async ({ pods, sets, history }) => {
    await pods.add(
      { name: 'leaving', app: 'app', ips: ['10.4.0.1'] },
      { name: 'coming', app: 'app', ips: ['10.4.0.1'] },
      { name: 'other', app: 'app', ips: ['10.4.0.2'] },
    );
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32'] });
    await pods.remove('leaving');
    await pods.remove('other');
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await history.caughtUp();
    expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
    await pods.remove('coming');
    await sets.become({});
  });
});
