import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { type KubeObject, replaceFile } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { type FaultProxy, startFaultProxy } from '@kube-semaphore/fault-proxy';
import {
  deployAccount,
  deployedRights,
  issueToken,
  mountFiles,
  type Program,
  type RealCluster,
  rulesOf,
  spawnProgram,
  startRealCluster,
} from '@kube-semaphore/testkit';
import { startClock } from './clock.ts';
import {
  type Change,
  type Clusters,
  type Name,
  names,
  type Remote,
  remotes,
  type Settings,
  type State,
  type Subject,
} from './subject.ts';

/** Three clusters with a proxy before each, and replicas of an app that write to the first one. */
export type World = Readonly<Awaited<ReturnType<typeof startWorld>>>;

/** What can happen to the tokens by which a cluster is read and written. */
type Tokens = {
  /** The files have some that the API server refuses, from now on. */
  revoke(): Promise<void>;
  /** The files have new ones that work. */
  renew(): Promise<void>;
};

export type WorldOptions = {
  /** Of the app. */
  readonly launcher: string;
  /** A Lease takes time, and a machine that is too busy to renew one has no leader. */
  readonly replicas: 1 | 2;
};

/** Starts everything but the replicas, with what stays. */
export async function startWorld(subject: Subject, options: WorldOptions) {
  const stack = new AsyncDisposableStack();
  try {
    return await build(subject, options, stack);
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function build(subject: Subject, { launcher, replicas }: WorldOptions, stack: AsyncDisposableStack) {
  const started = await Promise.all(
    names.map(async (name): Promise<[Name, { cluster: RealCluster; proxy: FaultProxy }]> => {
      const collector = {
        controllerManager: true,
        controllerManagerFlags: { controllers: 'garbage-collector-controller' },
      };
      const isLocal = name === 'c1';
      const cluster = await startRealCluster({ name, audit: isLocal, ...(isLocal && subject.owns && collector) });
      stack.defer(() => cluster.stop());
      const proxy = stack.use(await startFaultProxy(cluster));
      for (const namespace of subject.namespaces) await createNamespace(cluster, namespace);
      return [name, { cluster, proxy }];
    }),
  );
  const clusters = Object.fromEntries(started.map(([name, { cluster }]) => [name, cluster])) as Record<
    Name,
    RealCluster
  >;
  const proxies = Object.fromEntries(started.map(([name, { proxy }]) => [name, proxy])) as Record<Name, FaultProxy>;
  const { c1 } = clusters;
  await Promise.all(
    names.map(async (name) => {
      for (const crd of subject.crds) await clusters[name].defineResource(crd);
    }),
  );
  for (const change of subject.staying) await make(clusters, change);

  // It goes with the cluster, also if this process is killed.
  const dir = await mkdtemp(join(c1.dir, 'config-'));
  const ports = names.map((name) => Number(new URL(proxies[name].url).port));
  const site = await subject.site(clusters, { ports, dir, stack, launcher });
  const deployed = await Promise.all(
    remotes.map(async (name) => {
      const { tokenFile } = await deployAccount(clusters[name], ...subject.rights.remote);
      const { account } = deployedRights(...subject.rights.remote);
      return [name, { tokenFile, account, kubeconfig: await proxies[name].kubeconfig({ tokenFile }) }] as const;
    }),
  );
  const readers = Object.fromEntries(deployed.map(([name, { kubeconfig }]) => [name, kubeconfig]));
  const config = (local: string, inFile: readonly string[], settings: Settings): string =>
    JSON.stringify(subject.config(local, Object.fromEntries(inFile.map((name) => [name, readers[name]!])), settings));

  // Each replica has its own account, by which the audit log knows it, and its own file.
  const accounts = ['chaos-first', 'chaos-second'].slice(0, subject.elects ? replicas : 1);
  const rules = rulesOf(deployedRights(...subject.rights.local));
  const writers = await Promise.all(
    accounts.map(async (name) => {
      const { tokenFile } = await c1.account(name, rules);
      const kubeconfig = await proxies.c1.kubeconfig({ tokenFile });
      return { tokenFile, kubeconfig, account: { namespace: 'kube-system', name } };
    }),
  );
  const tokens: Record<Name, Tokens> = {
    c1: tokensOf(c1, writers),
    ...(Object.fromEntries(deployed.map(([name, each]) => [name, tokensOf(clusters[name], [each])])) as Record<
      Remote,
      Tokens
    >),
  };
  const clocks = await Promise.all(accounts.map((account) => startClock(dir, account)));
  /** The config file of each replica is so from now on. */
  const setConfig = (inFile: readonly string[], settings: Settings): Promise<void> =>
    mountFiles(
      dir,
      Object.fromEntries(
        writers.map(({ kubeconfig, account }) => [`${account.name}.json`, config(kubeconfig, inFile, settings)]),
      ),
    );
  return {
    subject,
    clusters,
    proxies,
    site,
    tokens,
    setConfig,
    clocks,
    accounts,
    /** @param heapMb of its objects, if it is to have less than it needs */
    spawn: (replica: number, heapMb?: number): Program => {
      const lease = ['-leader-elect', '-lease-namespace=kube-system', '-lease-name=semaphore-chaos'];
      const file = join(dir, `${accounts[replica]}.json`);
      const flags = [
        '-listen-address=127.0.0.1:0',
        '-watch-idle-timeout=5s',
        ...(accounts.length > 1 ? lease : []),
        ...subject.flags,
        ...(site.flags ?? []),
      ];
      const { flag, env } = clocks[replica]!;
      const nodeFlags = [flag, ...(heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`])];
      const variables = { ...site.env, ...env, NODE_OPTIONS: nodeFlags.join(' ') };
      return spawnProgram(launcher, [`-${subject.configFlag}=${file}`, ...flags], variables, { place: site.place });
    },
    stop: () => stack.disposeAsync(),
  };
}

type Issued = { readonly tokenFile: string; readonly account: { readonly namespace: string; readonly name: string } };

const tokensOf = (cluster: RealCluster, all: readonly Issued[]): Tokens => ({
  async revoke() {
    for (const { tokenFile } of all) await replaceFile(tokenFile, 'revoked');
  },
  // To the same files.
  async renew() {
    for (const { account } of all) await issueToken(cluster, account);
  },
});

async function createNamespace({ admin }: RealCluster, name: string): Promise<void> {
  await admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}

/** An API server that works says that a request is wrong: no later one like it would be right. */
export class WrongRequest extends Error {
  override readonly name = 'WrongRequest';
}

/** Requests by the admin. @throws {WrongRequest}; {Error} if the cluster is down, or the object isn't as it was */
export async function send(
  { admin }: RealCluster,
  method: 'PATCH' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<void> {
  const answer = await admin.request(method, path, body);
  if (answer.status < 300 || (method === 'DELETE' && answer.status === 404)) return;
  const message = `${method} ${path}: ${answer.status} ${String(answer.body['message'])}`;
  throw answer.status === 400 || answer.status === 422 ? new WrongRequest(message) : new Error(message);
}

/** Makes an object so, or removes it. Rejects as {@link send}. */
export async function make(clusters: Clusters, { cluster, collection, name, object }: Change): Promise<void> {
  const within = clusters[cluster];
  const path = `${collection}/${name}`;
  const remove = () => send(within, 'DELETE', `${path}?gracePeriodSeconds=0`);
  if (object === null) return remove();
  const { status, ...rest } = object;
  const present = await within.admin.request('GET', path);
  // A Service that has an address keeps it, and one that has none gets none: that needs another Service.
  const isHeadless = (each: unknown): boolean => (each as { clusterIP?: string } | undefined)?.clusterIP === 'None';
  const fits = present.status === 200 && isHeadless(present.body['spec']) === isHeadless(rest['spec']);
  if (!fits || !(await patches(within, path, rest))) {
    await remove();
    await send(within, 'POST', collection, withoutNulls(rest));
  }
  if (status !== undefined) await send(within, 'PATCH', `${path}/status`, { status });
}

/** @returns false if a field can't change, as hostNetwork */
async function patches(cluster: RealCluster, path: string, body: object): Promise<boolean> {
  try {
    await send(cluster, 'PATCH', path, body);
    return true;
  } catch (error) {
    if (error instanceof WrongRequest) return false;
    throw error;
  }
}

const withoutNulls = (object: object): object =>
  JSON.parse(JSON.stringify(object), (_key, value: unknown) => (value === null ? undefined : value));

/** What the clusters have of some paths, by their admins. Waits until an API server that started again serves them. */
export async function read(
  clusters: Partial<Clusters>,
  which: readonly Name[],
  paths: readonly string[],
): Promise<State> {
  const listOf = async (name: Name, path: string): Promise<readonly KubeObject[]> => {
    const answer = await eventually(
      () => clusters[name]!.admin.request('GET', path),
      ({ status }) => status === 200,
      { what: `${name} to list ${path}` },
    );
    return answer.body.items ?? [];
  };
  const objectsOf = async (name: Name) =>
    Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await listOf(name, path)] as const)));
  return Object.fromEntries(await Promise.all(which.map(async (name) => [name, await objectsOf(name)] as const)));
}
