import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { globalNetworkSetCrd, startCluster } from '@kube-semaphore/testkit';
import { test } from 'vitest';
import { createAccounts } from './accounts.ts';
import { argvOf, type PolicyFlags, usualFlags } from './command-line.ts';
import { Pods } from './pods.ts';
import { type PolicyProcess, spawnPolicy } from './policy-process.ts';
import { SetHistory } from './set-history.ts';
import { labelsOf, Sets, type SetView } from './sets.ts';

/** How a start differs from the default. */
type StartOptions = {
  readonly env?: Readonly<Record<string, string>>;
  /** Whether to wait until the process is ready. Default true. */
  readonly ready?: boolean;
};

/**
 * A test with two clusters, `local` and `remote`, which it shares with the other tests of its file; with accounts that have
 * the least rights; with `pods` and `sets`, which are deleted after it; and with programs, which are killed after it.
 */
export const it = test
  .extend('names', { scope: 'file' }, { local: 'c1', remote: 'c2' })
  .extend('clusters', { scope: 'file' }, async ({ names }, { onCleanup }) => {
    const [local, remote] = await Promise.all([
      startCluster({ name: names.local }),
      startCluster({ name: names.remote }),
    ]);
    onCleanup(async () => void (await Promise.all([local.stop(), remote.stop()])));
    await local.defineResource(globalNetworkSetCrd('crd.projectcalico.org'));
    return { local, remote };
  })
  .extend('local', { scope: 'file' }, ({ clusters }): TestCluster => clusters.local)
  .extend('remote', { scope: 'file' }, ({ clusters }): TestCluster => clusters.remote)
  .extend('accounts', { scope: 'file' }, ({ clusters }) => createAccounts(clusters))
  .extend('sets', ({ local }, { onCleanup }) => {
    const sets = new Sets(local);
    onCleanup(() => sets.clear());
    return sets;
  })
  // A running policy would create the set of a pod again: so this depends on sets, and is cleaned up before them.
  .extend('pods', ({ remote, sets: _sets }, { onCleanup }) => {
    const pods = new Pods(remote);
    onCleanup(() => pods.clear());
    return pods;
  })
  .extend('history', async ({ local, accounts }, { onCleanup }) => {
    const history = await SetHistory.start(local, accounts.local);
    onCleanup(() => history.stop());
    return history;
  })
  // Programs are stopped before pods and sets are deleted: so this depends on them.
  .extend('startWith', ({ pods: _pods, sets: _sets, task }, { onCleanup }) => {
    const started: PolicyProcess[] = [];
    onCleanup(async () => {
      await Promise.all(started.map((policy) => policy.stop('SIGKILL')));
      if (task.result?.state === 'fail') for (const { stderr } of started) console.error(stderr());
    });
    return async (argv: readonly string[], { env, ready = true }: StartOptions = {}): Promise<PolicyProcess> => {
      const policy = spawnPolicy(argv, env);
      started.push(policy);
      if (ready) await policy.ready();
      return policy;
    };
  })
  .extend(
    'start',
    ({ accounts, startWith }) =>
      (flags?: PolicyFlags, options?: StartOptions) =>
        startWith(argvOf({ ...usualFlags(accounts), ...flags }), options),
  )
  /** Runs a subcommand, with its words, to its end. */
  .extend(
    'ask',
    ({ accounts, startWith }) =>
      async (words: readonly string[], flags?: PolicyFlags, env?: StartOptions['env']) => {
        const argv = [...words, ...argvOf({ ...usualFlags(accounts), ...flags })];
        const program = await startWith(argv, { ready: false, ...(env && { env }) });
        const { code } = await program.exited;
        return { code, stdout: program.stdout(), stderr: program.stderr() };
      },
  )
  .extend(
    'plan',
    ({ ask }) =>
      (flags?: PolicyFlags) =>
        ask(['plan'], flags),
  )
  /** Writes a config file, as JSON; each remote has the usual account unless it has another one. @returns its path */
  .extend('configFile', async ({ accounts }, { onCleanup }) => {
    const dir = await mkdtemp(join(tmpdir(), 'policy-config-'));
    onCleanup(() => rm(dir, { recursive: true }));
    return async (...remotes: readonly { name: string; [key: string]: unknown }[]): Promise<string> => {
      const path = join(dir, 'config.yaml');
      const entries = remotes.map((remote) => ({ kubeConfigPath: accounts.remote.kubeconfig, ...remote }));
      await writeFile(path, JSON.stringify({ local: { kubeConfigPath: accounts.local.kubeconfig }, remotes: entries }));
      return path;
    };
  });

/** A test with a fault proxy before each cluster, and the flags for a policy behind them. */
export const itBehindProxies = it
  .extend('remoteProxy', async ({ remote }, { onCleanup }) => {
    const proxy = await startFaultProxy(remote);
    onCleanup(() => proxy.stop());
    return proxy;
  })
  .extend('localProxy', async ({ local }, { onCleanup }) => {
    const proxy = await startFaultProxy(local);
    onCleanup(() => proxy.stop());
    return proxy;
  })
  .extend('viaRemoteProxy', async ({ remoteProxy, accounts }) => ({
    'target-kube-config': await remoteProxy.kubeconfig(accounts.remote),
  }))
  .extend('viaLocalProxy', async ({ localProxy, accounts }) => ({
    'local-kube-config': await localProxy.kubeconfig(accounts.local),
  }));

/** A test on a running `policy`, which it shares with the other tests of its file. */
export const itWithPolicy = it
  .extend('policy', { scope: 'file', auto: true }, async ({ accounts }, { onCleanup }) => {
    const policy = spawnPolicy(argvOf(usualFlags(accounts)));
    onCleanup(async () => void (await policy.stop('SIGKILL')));
    await policy.ready();
    return policy;
  })
  .extend('pods', ({ remote, sets, policy: _policy }, { onCleanup }) => {
    const pods = new Pods(remote);
    onCleanup(async () => {
      await pods.clear();
      // The policy deletes its sets itself: after our deletion it could create one again, which the next test would see.
      await eventually(async () => (await sets.list()).filter(isOfPolicy), []);
    });
    return pods;
  });

const ours = labelsOf('');

/** Whether the usual policy deletes the set when its pods are gone. */
const isOfPolicy = ({ labels }: SetView): boolean =>
  ['managed-by', 'semaphore.uw.systems/cluster'].every((label) => labels[label] === ours[label]);
