import type { PolicyRule, TestAccount, TestCluster } from '@kube-semaphore/testkit';

const nodes = { apiGroups: [''], resources: ['nodes'] };
const reads = ['get', 'list', 'watch'];

/** All that an agent ever needs of its own cluster; a ValidatingAdmissionPolicy makes it less. */
const localRules: readonly PolicyRule[] = [{ ...nodes, verbs: [...reads, 'patch'] }];

/** All that is ever needed of a remote. */
const remoteRules: readonly PolicyRule[] = [{ ...nodes, verbs: reads }];

/** What is needed besides for `allowedIPsFrom: calico-blocks`. */
const calicoRules: readonly PolicyRule[] = [{ apiGroups: ['crd.projectcalico.org'], resources: ['blockaffinities', 'ipamblocks'], verbs: reads }];

/** The accounts of a cluster: of its own agents, and of those of other clusters. They may do just that, so that every test shows that it is enough. */
export type Accounts = { readonly agent: TestAccount; readonly reader: TestAccount };

/** Makes them. */
export async function createAccounts(cluster: TestCluster): Promise<Accounts> {
  const [agent, reader] = await Promise.all([cluster.account('agent', localRules), cluster.account('reader', [...remoteRules, ...calicoRules])]);
  return { agent, reader };
}
