import { eventually } from '@kube-semaphore/eventually';
import { clusterPropertiesPath as properties, clusterProperty, clusterPropertyCrd } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { argvOf, type PolicyFlags } from './support/command-line.ts';
import { it as itWithNetworkPolicies } from './support/it-with-network-policies.ts';
import { clusterPolicyCrds } from './support/permissive-crd.ts';
import type { PolicyProcess } from './support/policy-process.ts';
import { K } from './support/user-policies.ts';

const WEB = { name: 'web', namespace: 'beta', labels: { app: 'web' }, ips: ['10.4.0.20'] };

/** A policy that lets all Pods of a cluster in, which it names by this label. */
const fromCluster = (cluster: string, key = K): object => ({
  podSelector: {},
  ingress: [{ from: [{ namespaceSelector: { matchLabels: { [key]: cluster } } }] }],
});

/** A test on a remote that our config names c2, with the id west in the ClusterSet. */
const it = itWithNetworkPolicies
  .extend('setId', { scope: 'file' }, async ({ remote }) => {
    await remote.defineResource(clusterPropertyCrd);
    return async (value: string) => {
      const { metadata, ...property } = clusterProperty(value);
      const path = `${properties}/${metadata.name}`;
      if ((await remote.admin.request('PATCH', path, property)).status === 404)
        await remote.admin.create(properties, { ...property, metadata });
    };
  })
  .extend(
    'startWest',
    ({ accounts, configFile, startWith, policies: _policies }) =>
      async (flags: PolicyFlags = {}) => {
        const config = await configFile({ name: 'c2', clusterSetID: 'west', allowedPodCIDRs: ['10.4.0.0/16'] });
        const local = { 'local-kube-config': accounts.local.kubeconfig, 'listen-address': '127.0.0.1:0' };
        return startWith(argvOf({ config, 'network-policies': 'true', ...local, ...flags }));
      },
  );

/** How many policies name the remote, and how many other clusters they name. */
async function named(policy: PolicyProcess): Promise<readonly (number | undefined)[]> {
  return Promise.all([
    policy.metric('semaphore_policy_extended_policies', { remote: 'c2' }),
    policy.metric('semaphore_policy_unknown_clusters'),
  ]);
}

describe('the clusterSetID of a remote', () => {
  it('names it in policies, and its name does not', async ({ pods, policies, startWest }) => {
    await pods.add(WEB);
    await policies.add('by-id', fromCluster('west'));
    await policies.add('by-name', fromCluster('c2'));
    const policy = await startWest();
    await policies.open('by-id c2 ingress all: 10.4.0.20/32');
    expect(await named(policy)).toEqual([1, 1]);
  });

  it.for([
    { value: 'west', differs: 0, name: 'is what the ClusterProperty of the remote is compared with' },
    { value: 'c2', differs: 1, name: 'differs from a ClusterProperty that is only the name' },
  ])('$name, also without -clusterset-label', async ({ value, differs }, { setId, startWest }) => {
    await setId(value);
    const policy = await startWest();
    await eventually(() => policy.metric('semaphore_policy_cluster_id_differs', { remote: 'c2' }), differs);
    const warned = policy.log().filter(({ msg }) => msg === 'the remote has another id in its ClusterSet');
    expect(warned.map(({ cluster, id }) => ({ cluster, id }))).toEqual(differs ? [{ cluster: 'c2', id: value }] : []);
  });
});

describe('-clusterset-key', () => {
  it('is the only label that names clusters in policies', async ({ pods, policies, startWest }) => {
    const key = 'clusterset.k8s.io/cluster-name';
    await pods.add(WEB);
    await policies.add('other-key', fromCluster('west', key));
    await policies.add('default-key', fromCluster('west', K));
    await policies.add('other-key-and-name', fromCluster('c2', key));
    const policy = await startWest({ 'clusterset-key': key });
    await policies.open('other-key c2 ingress all: 10.4.0.20/32');
    expect(await named(policy)).toEqual([1, 1]);
    await policies.patch('default-key', { spec: fromCluster('west', key) });
    await policies.open(...['default-key', 'other-key'].map((name) => `${name} c2 ingress all: 10.4.0.20/32`));
    await eventually(() => named(policy), [2, 1]);
  });
});

describe('a policy for the whole cluster', () => {
  it('is named by plan if it names a cluster, which has no effect', async ({ local, plan }) => {
    for (const definition of clusterPolicyCrds) await local.defineResource(definition);
    const path = '/apis/policy.networking.k8s.io/v1alpha2/clusternetworkpolicies';
    const from = [{ namespaces: { matchLabels: { [K]: 'c2' } } }];
    await local.admin.create(path, {
      apiVersion: 'policy.networking.k8s.io/v1alpha2',
      kind: 'ClusterNetworkPolicy',
      metadata: { name: 'open' },
      spec: { ingress: [{ action: 'Accept', from }] },
    });
    const { stdout } = await plan({ 'network-policies': 'true' });
    expect(stdout).toMatch(/^skip! {3}ClusterNetworkPolicy open: ingress rule 1 \(Accept\) names /m);
  });
});
