import type { TestAccount, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { deployAccount, deployedRights, deployPolicies, rulesOf } from '@kube-semaphore/testkit';

/** The accounts of a policy on its two clusters. */
export type Accounts = { readonly local: TestAccount; readonly remote: TestAccount };

/** The folders of deploy/ with its accounts. */
export const folders = {
  local: 'policy/base',
  remote: 'policy/remote',
  networkPolicies: 'policy/components/network-policies',
  cilium: 'policy/components/network-policies-cilium',
  calico: 'policy/components/network-policies-calico',
  remoteNamespaces: 'policy/components/remote-namespaces',
} as const;

/** The local rights, with a Lease or without. */
export const localRules = rulesOf(deployedRights(folders.local));

/** The rights on a remote. */
export const remoteRules = rulesOf(deployedRights(folders.remote));

/**
 * The accounts that are deployed, so that every test shows that their rights are enough. A real API server restricts them to
 * their own objects.
 */
export async function createAccounts({ local, remote }: Record<'local' | 'remote', TestCluster>): Promise<Accounts> {
  const [writer, reader] = await Promise.all([
    deployAccount(local, folders.local),
    deployAccount(remote, folders.remote),
  ]);
  await deployPolicies(local, folders.local);
  return { local: writer, remote: reader };
}
