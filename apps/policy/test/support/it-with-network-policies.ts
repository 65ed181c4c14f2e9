import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { deployAccount, deployPolicies } from '@kube-semaphore/testkit';
import { expect } from 'vitest';
import { type Accounts, folders } from './accounts.ts';
import { argvOf, type PolicyFlags, usualFlags } from './command-line.ts';
import { it as itOnClusters } from './it.ts';
import { UserPolicies } from './user-policies.ts';

/** A test with accounts that may do what `-network-policies` needs, and with the NetworkPolicies of a namespace. */
export const it = itOnClusters
  /** Folders of deploy/ beside those of -network-policies. */
  .extend('components', { scope: 'file' }, (): readonly string[] => [])
  .extend('accounts', { scope: 'file' }, async ({ clusters: { local, remote }, components }): Promise<Accounts> => {
    const [writer, reader] = await Promise.all([
      deployAccount(local, folders.local, folders.networkPolicies, ...components),
      deployAccount(remote, folders.remote, folders.remoteNamespaces),
    ]);
    await deployPolicies(local, folders.local);
    return { local: writer, remote: reader };
  })
  .extend('policies', async ({ local, accounts }, { onCleanup }) => {
    const policies = await UserPolicies.start(local, accounts.local.token);
    onCleanup(async () => {
      // In every test: a rule without peers would let everybody in.
      expect(await policies.tooOpen()).toEqual([]);
      await policies.clear();
    });
    return policies;
  })
  .extend(
    'start',
    ({ accounts, startWith, policies: _policies }) =>
      (flags?: PolicyFlags, options?: { readonly ready?: boolean }) =>
        startWith(argvOf({ ...usualFlags(accounts), 'network-policies': 'true', ...flags }), options),
  );

/** The same with a fault proxy before the remote, and the flags for a policy behind it. */
export const itBehindProxy = it
  .extend('proxy', async ({ remote }, { onCleanup }) => {
    const proxy = await startFaultProxy(remote);
    onCleanup(() => proxy.stop());
    return proxy;
  })
  .extend('viaProxy', async ({ proxy, accounts }) => ({
    'target-kube-config': await proxy.kubeconfig(accounts.remote),
  }));
