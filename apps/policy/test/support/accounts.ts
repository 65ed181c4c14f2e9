import type { TestAccount, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { deployAccount, deployedRights, deployPolicies, rulesOf } from '@kube-semaphore/testkit';

/** Whom a policy is on each of its two clusters. */
export type Accounts = { readonly local: TestAccount; readonly remote: TestAccount };

/** The folders of deploy/ that have its accounts. */
export const folders = { local: 'policy/base', remote: 'policy/remote' } as const;

/** All that is ever needed locally, with a Lease or without. */
export const localRules = rulesOf(deployedRights(folders.local));

/** All that is ever needed of a remote. */
export const remoteRules = rulesOf(deployedRights(folders.remote));

/** The accounts that are deployed, so that every test shows that their rights are enough. A real API server holds them to their own objects. */
export async function createAccounts({ local, remote }: Record<'local' | 'remote', TestCluster>): Promise<Accounts> {
  const [writer, reader] = await Promise.all([
    deployAccount(local, folders.local),
    deployAccount(remote, folders.remote),
  ]);
  await deployPolicies(local, folders.local);
  return { local: writer, remote: reader };
}
