// Real: the audit log says which rights were used.
import { eventually } from '@kube-semaphore/eventually';
import {
  calicoApiCrds,
  calicoCrds,
  ciliumCrds,
  clusterPropertiesPath,
  clusterProperty,
  clusterPropertyCrd,
  deployedRights,
  globalNetworkSetCrd,
  goesWithoutEngines,
  longLease,
  type RealCluster,
  rightsIn,
  shortLease,
  startRealCluster,
  useOf,
} from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { folders } from '../support/accounts.ts';
import { argvOf } from '../support/command-line.ts';
import { it as itWithNetworkPolicies } from '../support/it-with-network-policies.ts';
import { clusterPolicyCrds } from '../support/permissive-crd.ts';
import { labelsOf, Sets } from '../support/sets.ts';
import { fromApp } from '../support/user-policies.ts';

const APIS = {
  'crd.projectcalico.org': 'crd.projectcalico.org/v1',
  'projectcalico.org': 'projectcalico.org/v3',
} as const;

const orphan = { name: 'c9-default-left', labels: labelsOf('left', { cluster: 'c9' }), nets: ['10.9.0.1/32'] };

/**
 * A test with one real API server as both clusters, whose audit log distinguishes the accounts. It serves no WatchList, so
 * the rights to list are needed.
 */
const it = itWithNetworkPolicies
  .extend('components', { scope: 'file' }, () => [folders.cilium, folders.calico])
  .extend('server', { scope: 'file' }, async ({ names }, { onCleanup }): Promise<RealCluster> => {
    const server = await startRealCluster({
      name: names.local,
      audit: true,
      apiserverFlags: { 'feature-gates': 'WatchList=false' },
    });
    onCleanup(() => server.stop());
    // As in the manifests.
    await server.admin.create('/apis/coordination.k8s.io/v1/namespaces/kube-system/leases', {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'semaphore-policy' },
    });
    const crds = [
      ...ciliumCrds(),
      ...calicoCrds('networkpolicies'),
      ...calicoApiCrds(),
      ...clusterPolicyCrds,
      clusterPropertyCrd,
    ];
    for (const crd of [...crds, globalNetworkSetCrd('crd.projectcalico.org')]) await server.defineResource(crd);
    await server.admin.create(clusterPropertiesPath, clusterProperty('c2'));
    return server;
  })
  .extend('clusters', { scope: 'file' }, ({ server }) => ({ local: server, remote: server }))
  /** Every operation of a policy on the sets of one API, and every subcommand. */
  .extend('exercise', ({ local, accounts, pods, start, startWith, plan }) => async (group: keyof typeof APIS) => {
    const sets = new Sets(local, group);
    const api = { 'calico-api': APIS[group] };
    const policy = await start({
      ...api,
      'clusterset-label': 'true',
      ...shortLease('semaphore-policy'),
      ...longLease,
      'lease-namespace': 'semaphore-policy',
      'previous-lease-namespace': 'kube-system',
    });
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] }, { name: 'gone', app: 'gone', ips: ['10.4.0.2'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'], 'c2-default-gone': ['10.4.0.2/32'] });
    await pods.add({ name: 'b', app: 'app', ips: ['10.4.0.3'] });
    await pods.remove('gone');
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.3/32'] });
    await sets.add(orphan);
    const { code } = await plan(api);
    const cleanup = await startWith(
      ['cleanup', '-cluster=c9', '-yes', ...argvOf({ 'local-kube-config': accounts.local.kubeconfig, ...api })],
      { ready: false },
    );
    expect([code, (await cleanup.exited).code]).toEqual([0, 0]);
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.3/32'] });
    const complaints = policy.log().filter(({ level }) => level === 'warn' || level === 'error');
    // Both sides are one API server: the only warning.
    expect(complaints.map(({ msg }) => msg)).toEqual([expect.stringContaining(' leads to the same API server as ')]);
    await policy.stop();
    await pods.clear();
  })
  /** Every operation on the companions of one sink. */
  .extend('exerciseSink', ({ pods, policies, start }) => async (sink: string, api: keyof typeof APIS) => {
    const policy = await start({ 'network-policy-sink': sink, 'calico-api': APIS[api] });
    const addresses = () => policy.metric('semaphore_policy_companion_addresses', { remote: 'c2' });
    const web = { name: 'web', namespace: 'beta', labels: { app: 'web' }, ips: ['10.4.0.20'] };
    await pods.add(web);
    await policies.add('db', fromApp('c2'));
    await eventually(addresses, 1);
    await pods.add({ ...web, name: 'web-2', ips: ['10.4.0.21'] });
    await eventually(addresses, 2);
    await policies.patch('db', { spec: fromApp('c2', 'web', 5433) });
    await policy.logged('companion updated');
    await eventually(() => policy.metric('semaphore_policy_companions_behind', { remote: 'c2' }), 0);
    await policies.remove('db');
    await eventually(addresses, 0);
    await policy.stop();
    await pods.clear();
  });

describe.skipIf(goesWithoutEngines)('the accounts of deploy/policy', () => {
  it('need each of their rights, and no other', async ({ server, exercise, exerciseSink }) => {
    await exercise('crd.projectcalico.org');
    await exercise('projectcalico.org');
    await exerciseSink('networkpolicy', 'crd.projectcalico.org');
    await exerciseSink('cilium', 'crd.projectcalico.org');
    await exerciseSink('calico', 'crd.projectcalico.org');
    await exerciseSink('calico', 'projectcalico.org');
    const sides = [
      deployedRights(folders.local, folders.networkPolicies, folders.cilium, folders.calico),
      deployedRights(folders.remote, folders.remoteNamespaces),
    ];
    const use = async () => {
      const events = await server.auditLog();
      return sides.map((rights) => useOf(events, rights));
    };
    await eventually(
      use,
      sides.map(({ grants }) => ({ needed: rightsIn(grants), refused: [] })),
    );
  });
});
