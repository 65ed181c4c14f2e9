import type { TestAccount, TestCluster } from '@kube-semaphore/testkit';
import { documentedRules } from './documented-rules.ts';

/** Whom a mirror is on each of its two clusters. */
export type Accounts = { readonly local: TestAccount; readonly remote: TestAccount };

/** All that is ever needed locally, in the mirror namespace. */
export const localRules = documentedRules.mirrors;

/** All that is ever needed of a remote. */
export const remoteRules = documentedRules.remote;

/** Accounts that may do just that, so that every test shows that it is enough. */
export async function createAccounts({ local, remote }: Record<'local' | 'remote', TestCluster>): Promise<Accounts> {
  const [writer, reader] = await Promise.all([local.account('writer', localRules), remote.account('reader', remoteRules)]);
  return { local: writer, remote: reader };
}
