import type { PolicyRule, TestAccount, TestCluster } from '@kube-semaphore/testkit';

/** Whom a mirror is on each of its two clusters. */
export type Accounts = { readonly local: TestAccount; readonly remote: TestAccount };

const reads = ['get', 'list', 'watch'];

/** All that is ever needed locally, in the mirror namespace. */
const localRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['services'], verbs: [...reads, 'create', 'update', 'delete'] },
  { apiGroups: [''], resources: ['endpoints'], verbs: [...reads, 'delete'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: [...reads, 'create', 'update', 'delete'] },
];

/** All that is ever needed of a remote. */
export const remoteRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['services'], verbs: reads },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: reads },
];

/** Accounts that may do just that, so that every test shows that it is enough. */
export async function createAccounts({ local, remote }: Record<'local' | 'remote', TestCluster>): Promise<Accounts> {
  const [writer, reader] = await Promise.all([local.account('writer', localRules), remote.account('reader', remoteRules)]);
  return { local: writer, remote: reader };
}
