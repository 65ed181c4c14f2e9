import type { TestAccount, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { deployAccount } from '@kube-semaphore/testkit';

/** The accounts of a cluster: of its own agents, and of those of other clusters. */
export type Accounts = { readonly agent: TestAccount; readonly reader: TestAccount };

/** Their folders in deploy/; the second of `reader` is for `allowedIPsFrom: calico-blocks`. */
export const folders = {
  agent: ['wireguard/base'],
  reader: ['wireguard/remote', 'wireguard/components/calico-blocks'],
} as const;

/** The accounts that are deployed, so that every test shows that their rights are enough. An admission policy restricts agents further. */
export async function createAccounts(cluster: TestCluster): Promise<Accounts> {
  const [agent, reader] = await Promise.all([
    deployAccount(cluster, ...folders.agent),
    deployAccount(cluster, ...folders.reader),
  ]);
  return { agent, reader };
}
