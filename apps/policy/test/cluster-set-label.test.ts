import { eventually } from '@kube-semaphore/eventually';
import { clusterPropertiesPath as properties, clusterProperty, clusterPropertyCrd } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { remoteRules } from './support/accounts.ts';
import { itBehindProxies } from './support/it.ts';
import { labelsOf } from './support/sets.ts';

/** A test on a remote with an id in its ClusterSet, if the test sets one. */
const it = itBehindProxies
  .extend('aboutApi', { scope: 'file' }, ({ remote }) => {
    let served: Promise<void> | undefined;
    return () => (served ??= remote.defineResource(clusterPropertyCrd));
  })
  .extend('setId', ({ remote, aboutApi }, { onCleanup }) => async (value: string) => {
    await aboutApi();
    const property = clusterProperty(value);
    await remote.admin.create(properties, property);
    onCleanup(() => remote.admin.delete(`${properties}/${property.metadata.name}`));
  })
  .extend('blind', { scope: 'file' }, ({ remote }) =>
    remote.account(
      'blind',
      remoteRules.filter(({ apiGroups }) => !apiGroups.includes('about.k8s.io')),
    ),
  )
  .extend(
    'questions',
    ({ remoteProxy }) =>
      () =>
        remoteProxy.requests().filter(({ target }) => target.startsWith(properties)),
  );

const pod = { name: 'a', app: 'app', ips: ['10.4.0.1'] };
const set = (labels: Readonly<Record<string, string>>) => ({ name: 'c2-default-app', labels, nets: ['10.4.0.1/32'] });
const labelled = set({ ...labelsOf('app'), 'cluster.clusterset.k8s.io': 'c2' });

const WARNING = 'the remote has another id in its ClusterSet';
const UNKNOWN = 'ClusterSet id of the remote not read';

describe('-clusterset-label', () => {
  it('labels sets with the name in our config, and removes the label without the flag', async ({
    pods,
    sets,
    history,
    start,
  }) => {
    await pods.add(pod);
    await sets.add(set(labelsOf('app')));
    const policy = await start({ 'clusterset-label': 'true' });
    await eventually(() => sets.list(), [labelled]);
    await policy.stop();
    await start();
    await eventually(() => sets.list(), [set(labelsOf('app'))]);
    await history.caughtUp();
    expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
  });

  it('is restored like every other label', async ({ pods, sets, start }) => {
    await pods.add(pod);
    await start({ 'clusterset-label': 'true' });
    await eventually(() => sets.list(), [labelled]);
    await sets.patch('c2-default-app', { metadata: { labels: { 'cluster.clusterset.k8s.io': 'west' } } });
    await eventually(() => sets.list(), [labelled]);
  });
});

describe('the id that a remote has in its ClusterSet', () => {
  it('is unknown, at debug, without the About API', async ({ pods, sets, start }) => {
    await pods.add(pod);
    const policy = await start({ 'clusterset-label': 'true', 'log-level': 'debug' });
    await policy.logged(UNKNOWN, { level: 'debug', cluster: 'c2' });
    await eventually(() => sets.list(), [labelled]);
  });

  it('causes one warning if it differs from our name, and is never used', async ({ pods, sets, setId, start }) => {
    await setId('west');
    await pods.add(pod);
    const policy = await start({ 'clusterset-label': 'true' });
    await policy.logged(WARNING, { level: 'warn', cluster: 'c2', id: 'west' });
    await eventually(() => policy.metric('semaphore_policy_cluster_id_differs', { remote: 'c2' }), 1);
    await eventually(() => sets.list(), [labelled]);
    expect(policy.log().filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  it('causes no log line if it is the same', async ({ pods, sets, viaRemoteProxy, questions, setId, start }) => {
    await setId('c2');
    await pods.add(pod);
    const policy = await start({ 'clusterset-label': 'true', ...viaRemoteProxy, 'log-level': 'debug' });
    await eventually(() => questions().length, 1);
    // Written after the answer was there.
    await pods.add({ name: 'b', app: 'app', ips: ['10.4.0.2'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32'] });
    expect(policy.log().map(({ msg }) => msg)).not.toContain(UNKNOWN);
    expect(policy.log().filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('is unknown, at debug, without the right to read it', async ({ pods, sets, blind, setId, start }) => {
    await setId('west');
    await pods.add(pod);
    const policy = await start({
      'clusterset-label': 'true',
      'log-level': 'debug',
      'target-kube-config': blind.kubeconfig,
    });
    await policy.logged(UNKNOWN, { level: 'debug', cluster: 'c2' });
    await eventually(() => sets.list(), [labelled]);
    expect(policy.log().filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('is not requested without the flag', async ({ pods, sets, viaRemoteProxy, questions, setId, start }) => {
    await setId('west');
    await pods.add(pod);
    const policy = await start(viaRemoteProxy);
    await eventually(() => sets.list(), [set(labelsOf('app'))]);
    await policy.stop();
    expect(questions()).toEqual([]);
  });
});
