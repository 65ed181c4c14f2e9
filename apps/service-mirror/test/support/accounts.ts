import type { TestAccount, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { deployAccount, deployComponent, deployedRights, deployPolicies, rulesOf } from '@kube-semaphore/testkit';

/** The accounts of a mirror on its two clusters. */
export type Accounts = { readonly local: TestAccount; readonly remote: TestAccount };

/** The folders of deploy/ with its accounts, and with what global Services and Multi-Cluster Services need in addition. */
export const folders = {
  local: 'service-mirror/base',
  globals: 'service-mirror/components/global',
  mcs: 'service-mirror/components/mcs',
  remote: 'service-mirror/remote',
  remoteMcs: 'service-mirror/components/remote-mcs',
} as const;

/** All rights in the mirror namespace. */
export const localRules = rulesOf(deployedRights(folders.local));

/** All local rights with global services; some are for all namespaces. */
export const globalRules = rulesOf(deployedRights(folders.local, folders.globals));

/** Those for all namespaces. */
export const componentRules = globalRules.slice(localRules.length);

/** All rights that a remote must grant. */
export const remoteRules = rulesOf(deployedRights(folders.remote));

/**
 * The accounts of deploy/, so that every test shows that their rights are enough. On a real API server, a policy limits
 * them to their own objects.
 */
export async function createAccounts({ local, remote }: Record<'local' | 'remote', TestCluster>): Promise<Accounts> {
  const [writer, reader] = await Promise.all([
    deployAccount(local, folders.local),
    deployAccount(remote, folders.remote),
  ]);
  await deployPolicies(local, folders.local);
  return { local: writer, remote: reader };
}

/** As `createAccounts`, with the component for global services. */
export async function createGlobalAccounts(clusters: Record<'local' | 'remote', TestCluster>): Promise<Accounts> {
  const accounts = await createAccounts(clusters);
  await deployComponent(clusters.local, folders.local, folders.globals);
  return accounts;
}

/** As `createAccounts`, in one cluster of a set, with the components for Multi-Cluster Services. */
export async function createMcsAccounts(cluster: TestCluster): Promise<Accounts> {
  const accounts = await createAccounts({ local: cluster, remote: cluster });
  await deployComponent(cluster, folders.local, folders.mcs);
  await deployComponent(cluster, folders.remote, folders.remoteMcs);
  return accounts;
}
