import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { deployAccount, startCluster } from '@kube-semaphore/testkit';
import { createGlobalAccounts, folders } from './accounts.ts';
import { it } from './it.ts';
import { MIRRORS } from './mirror-process.ts';
import { RemoteServices } from './remote-services.ts';

/** A remote cluster in a test's config file; the credentials are the fixture's. */
export type RemoteEntry = {
  readonly name: string;
  readonly kubeConfigPath: string;
  readonly servicePrefix: string;
  readonly [field: string]: unknown;
};

/** How a start with a file differs from the usual. */
type FileStart = {
  readonly ready?: boolean;
  readonly ofSecond?: object;
  readonly flags?: readonly string[];
  readonly others?: readonly RemoteEntry[];
  readonly kubeconfig?: string;
};

/** A test with a config file for `c2` and a second remote, `c2-a`, whose prefix begins like the first one's. */
export const itWithTwoRemotes = it
  .extend('accounts', { scope: 'file' }, ({ clusters }) => createGlobalAccounts(clusters))
  .extend('secondName', { scope: 'file' }, 'c2-a')
  .extend('second', { scope: 'file' }, async ({ secondName }, { onCleanup }): Promise<TestCluster> => {
    const second = await startCluster({ name: secondName });
    onCleanup(() => second.stop());
    return second;
  })
  .extend('secondAccount', { scope: 'file' }, ({ second }) => deployAccount(second, folders.remote))
  .extend('secondSources', ({ second }, { onCleanup }) => {
    const sources = new RemoteServices(second);
    onCleanup(() => sources.clear());
    return sources;
  })
  .extend('secondProxy', async ({ second }, { onCleanup }) => {
    const proxy = await startFaultProxy(second);
    onCleanup(() => proxy.stop());
    return proxy;
  })
  /**
   * A proxy is before the second remote. `global` is what the file says there besides, `ofSecond` what it says of that
   * remote. `others` are more remotes, and `kubeconfig` leads to the local cluster in another way.
   */
  .extend('startWithFile', ({ local, accounts, secondAccount, secondProxy, startWith }) => {
    return async (global: object = {}, start: FileStart = {}) => {
      const { ofSecond = {}, flags = [], others = [], kubeconfig = accounts.local.kubeconfig, ...options } = start;
      const remotes: RemoteEntry[] = [
        { name: 'c2', kubeConfigPath: accounts.remote.kubeconfig, servicePrefix: 'c2' },
        {
          name: 'c2-a',
          kubeConfigPath: await secondProxy.kubeconfig(secondAccount),
          servicePrefix: 'c2-a',
          ...ofSecond,
        },
        ...others,
      ];
      const file = {
        global: { mirrorSvcLabelSelector: 'mirror=true', mirrorNamespace: MIRRORS, ...global },
        localCluster: { name: 'c1', kubeConfigPath: kubeconfig },
        remoteClusters: remotes,
      };
      const path = join(local.dir, 'service-mirror.json');
      await writeFile(path, JSON.stringify(file));
      return startWith([`-config=${path}`, '-listen-address=127.0.0.1:0', ...flags], options);
    };
  });
