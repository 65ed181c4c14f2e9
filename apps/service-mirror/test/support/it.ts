import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { startCluster } from '@kube-semaphore/testkit';
import type { Place } from '@kube-semaphore/testnet';
import { test } from 'vitest';
import { createAccounts } from './accounts.ts';
import { type LocalOptions, startLocal } from './clusters.ts';
import { EndpointHistory } from './endpoint-history.ts';
import { LocalServices } from './local-services.ts';
import { argvOf, type MirrorFlags, type MirrorProcess, MIRRORS, spawnMirror, usualFlags } from './mirror-process.ts';
import { RemoteServices } from './remote-services.ts';

/** How a start differs from the usual. */
export type StartOptions = {
  readonly env?: Readonly<Record<string, string>>;
  /** Where it runs. Default: here. */
  readonly place?: Place;
  /** Whether to wait until the process is ready. Default true. */
  readonly ready?: boolean;
};

/**
 * A test with two clusters, `local` and `remote`, which it shares with the other tests of its file; with accounts that
 * have the least rights; with the Services of both, which are gone after it; and with programs, killed after it.
 */
export const it = test
  .extend('localOptions', { scope: 'file' }, (): LocalOptions => ({}))
  .extend('clusters', { scope: 'file' }, async ({ localOptions }, { onCleanup }) => {
    const [local, remote] = await Promise.all([startLocal(localOptions), startCluster({ name: 'c2' })]);
    onCleanup(async () => void (await Promise.all([local.stop(), remote.stop()])));
    await local.admin.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: MIRRORS },
    });
    return { local, remote };
  })
  .extend('local', { scope: 'file' }, ({ clusters }): TestCluster => clusters.local)
  .extend('remote', { scope: 'file' }, ({ clusters }): TestCluster => clusters.remote)
  .extend('accounts', { scope: 'file' }, ({ clusters }) => createAccounts(clusters))
  .extend('sources', ({ remote }, { onCleanup }) => {
    const sources = new RemoteServices(remote);
    onCleanup(() => sources.clear());
    return sources;
  })
  .extend('mirrors', ({ local }, { onCleanup }) => {
    const mirrors = new LocalServices(local);
    onCleanup(() => mirrors.clear());
    return mirrors;
  })
  .extend('history', async ({ local, accounts }, { onCleanup }) => {
    const history = await EndpointHistory.start(local, accounts.local);
    onCleanup(() => history.stop());
    return history;
  })
  // Programs stop before their objects are removed: so this depends on both, and is cleaned up first.
  .extend('startWith', ({ sources: _sources, mirrors: _mirrors, task }, { onCleanup }) => {
    const started: MirrorProcess[] = [];
    onCleanup(async () => {
      await Promise.all(started.map((mirror) => mirror.stop('SIGKILL')));
      if (task.result?.state === 'fail') for (const { stderr } of started) console.error(stderr());
    });
    return async (argv: readonly string[], { env, place, ready = true }: StartOptions = {}): Promise<MirrorProcess> => {
      const mirror = spawnMirror(argv, env, place);
      started.push(mirror);
      if (ready) await mirror.ready();
      return mirror;
    };
  })
  .extend(
    'start',
    ({ accounts, startWith }) =>
      (flags?: MirrorFlags, options?: StartOptions) =>
        startWith(argvOf({ ...usualFlags(accounts), ...flags }), options),
  );

/** A test with a fault proxy before the remote cluster, and the flags to use it. */
export const itBehindProxy = it
  .extend('remoteProxy', async ({ remote }, { onCleanup }) => {
    const proxy = await startFaultProxy(remote);
    onCleanup(() => proxy.stop());
    return proxy;
  })
  .extend('viaProxy', async ({ remoteProxy, accounts }) => ({
    'target-kube-config': await remoteProxy.kubeconfig(accounts.remote),
  }));
