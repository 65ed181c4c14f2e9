import type { PolicyRule, TestAccount, TestCluster } from '@kube-semaphore/testkit';

/** Whom a policy is on each of its two clusters. */
export type Accounts = { readonly local: TestAccount; readonly remote: TestAccount };

const apiGroups = ['crd.projectcalico.org', 'projectcalico.org'];
const resources = ['globalnetworksets'];

/** All that is ever needed locally. */
export const localRules: readonly PolicyRule[] = [
  { apiGroups, resources, verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'] },
];

/** All that is ever needed of a remote. */
export const remoteRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
];

/** Accounts that may do just that, so that every test shows that it is enough. */
export async function createAccounts({ local, remote }: Record<'local' | 'remote', TestCluster>): Promise<Accounts> {
  const [writer, reader] = await Promise.all([
    local.account('writer', localRules),
    remote.account('reader', remoteRules),
  ]);
  return { local: writer, remote: reader };
}
