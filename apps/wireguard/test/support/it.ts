import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { node, type NodeOptions, startCluster } from '@kube-semaphore/testkit';
import { test } from 'vitest';
import { createAccounts } from './accounts.ts';
import { type Agent, type AgentFlags, spawnAgent } from './agent-process.ts';
import { BareNode } from './bare-node.ts';

/** What differs from the default run. */
type RunOptions = {
  readonly word?: string;
  readonly flags?: AgentFlags;
  /** Of the whole file, and of the entry of the remote. */
  readonly file?: Readonly<Record<string, unknown>>;
  readonly remote?: Readonly<Record<string, unknown>>;
};

/** The result of a run. */
type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

const NODES = '/api/v1/nodes';

/** The Node of the agent. */
export const ownNode = { name: 'n1', podCIDRs: ['10.2.1.0/24'], internalIPs: ['192.0.2.1'] };

/** The annotations of a remote's Node for c1. */
export const announce = (publicKey: string, endpoint: string) => ({
  'c1.wireguard.semaphore.uw.io/pubKey': publicKey,
  'c1.wireguard.semaphore.uw.io/endpoint': endpoint,
});

/**
 * A test with the clusters `local` and `remote`, shared by the tests of its file; with accounts of least privilege; with a bare
 * node for agents; and with Nodes that are deleted after it.
 */
export const it = test
  .extend('names', { scope: 'file' }, { local: 'c1', remote: 'c2' })
  .extend('clusters', { scope: 'file' }, async ({ names }, { onCleanup }) => {
    const [local, remote] = await Promise.all([
      startCluster({ name: names.local }),
      startCluster({ name: names.remote }),
    ]);
    onCleanup(async () => void (await Promise.all([local.stop(), remote.stop()])));
    return { local, remote };
  })
  .extend('local', { scope: 'file' }, ({ clusters }): TestCluster => clusters.local)
  .extend('remote', { scope: 'file' }, ({ clusters }): TestCluster => clusters.remote)
  .extend('accounts', { scope: 'file' }, async ({ local, remote }) => ({
    local: await createAccounts(local),
    remote: await createAccounts(remote),
  }))
  .extend('dir', async ({ task: _task }, { onCleanup }) => {
    const dir = await mkdtemp(join(tmpdir(), 'wireguard-'));
    // A fake program may still run after its agent was killed.
    onCleanup(() => rm(dir, { recursive: true, maxRetries: 10, retryDelay: 50 }));
    return dir;
  })
  .extend('keyFolder', async ({ dir }) => {
    const folder = join(dir, 'keys');
    await mkdir(folder, { mode: 0o700 });
    return folder;
  })
  .extend('addNode', ({ task: _task }, { onCleanup }) => {
    const made: (readonly [TestCluster, string])[] = [];
    onCleanup(
      async () => void (await Promise.all(made.map(([cluster, name]) => cluster.admin.delete(`${NODES}/${name}`)))),
    );
    return async (cluster: TestCluster, options: NodeOptions): Promise<KubeObject> => {
      made.push([cluster, options.name]);
      return cluster.admin.create(NODES, node(options));
    };
  })
  .extend('bareNode', ({ dir }) => BareNode.make(dir))
  .extend('spawn', ({ names, dir, keyFolder, accounts, bareNode, task }, { onCleanup }) => {
    const started: Agent[] = [];
    onCleanup(async () => {
      await Promise.all(started.map((agent) => agent.stop('SIGKILL')));
      if (task.result?.state === 'fail') for (const { stderr } of started) console.error(stderr());
    });
    return async ({ word, flags, file, remote }: RunOptions = {}): Promise<Agent> => {
      const entry = {
        name: names.remote,
        kubeConfigPath: accounts.remote.reader.kubeconfig,
        podSubnet: '10.4.0.0/16',
        ...remote,
      };
      const path = join(dir, 'clusters.json');
      await writeFile(
        path,
        JSON.stringify({
          local: { name: names.local, kubeConfigPath: accounts.local.agent.kubeconfig },
          remotes: [entry],
          ...file,
        }),
      );
      const usual = {
        'clusters-config': path,
        'node-name': 'n1',
        'wg-key-path': keyFolder,
        'listen-address': word === undefined ? '127.0.0.1:0' : undefined,
      };
      const agent = spawnAgent(
        { ...usual, ...flags },
        { env: { PATH: bareNode.path }, ...(word !== undefined && { word }) },
      );
      started.push(agent);
      return agent;
    };
  })
  .extend('run', ({ spawn }) => async (options: RunOptions = {}): Promise<Ended> => {
    const agent = await spawn(options);
    const { code } = await agent.exited;
    return { code, stdout: agent.stdout(), stderr: agent.stderr() };
  });
