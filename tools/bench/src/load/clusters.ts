import { randomUUID } from 'node:crypto';
import {
  type EmbeddedCluster,
  type PolicyRule,
  startEmbeddedCluster,
  type TestAccount,
  type TestCluster,
} from '@kube-semaphore/embedded-apiserver';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { type RealCluster, startRealCluster } from '@kube-semaphore/testkit';

/** One request in the log of a server. */
export type LoggedRequest = { readonly user: string; readonly verb: string };

/** A cluster of either kind, with additions for a bench. */
export type BenchCluster = {
  readonly api: EmbeddedCluster | RealCluster;
  /** All requests so far; for a watch, its start. */
  readonly requests: () => Promise<LoggedRequest[]>;
};

/** The remote clusters and the local one, all empty. */
export type Clusters = {
  /** The cluster with changes; the first of `remotes`. */
  readonly remote: BenchCluster;
  readonly remotes: readonly BenchCluster[];
  readonly local: BenchCluster;
  /** The kind of the API servers, with the version. */
  readonly server: string;
  readonly stop: () => Promise<void>;
};

/** The rights of a program on the remote clusters and on the local one. */
export type Rights = { readonly remote: readonly PolicyRule[]; readonly local: readonly PolicyRule[] };

/** The accounts of a program on all clusters. */
export type Accounts = { readonly remotes: readonly TestAccount[]; readonly local: TestAccount };

/** Connections for work that isn't measured. */
export const CONNECTIONS = 16;

/** The names of the remote clusters, in the order of `remotes`. */
export const clusterName = (index: number): string => `c${index + 2}`;

/** The user name of a ServiceAccount of `TestCluster.account`. */
export const userOf = (account: string): string => `system:serviceaccount:kube-system:${account}`;

/** Starts a local cluster, and this number of remote ones. */
export async function startClusters(
  kind: TestCluster['kind'],
  { remotes: count }: { remotes: number },
): Promise<Clusters> {
  const start = kind === 'real' ? startReal : startEmbedded;
  const names = Array.from({ length: count }, (_, index) => `remote-${index}`);
  const [local, remote, ...others] = await Promise.all([start('local'), start('remote'), ...names.slice(1).map(start)]);
  const remotes = [remote, ...others];
  const stop = async () => {
    await Promise.all([local, ...remotes].map(({ api }) => api.stop()));
  };
  const server = kind === 'real' ? `kube-apiserver ${await versionOf(remote.api)}` : 'the embedded API server';
  return { remote, remotes, local, server, stop };
}

/** Makes an account of this name on all clusters. */
export async function enrol(
  account: string,
  { remotes, local }: Pick<Clusters, 'remotes' | 'local'>,
  rights: Rights,
): Promise<Accounts> {
  const readers = await Promise.all(remotes.map(({ api }) => api.account(account, rights.remote)));
  return { remotes: readers, local: await local.api.account(account, rights.local) };
}

/** Creates missing namespaces. */
export async function createNamespaces({ api }: BenchCluster, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await api.admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
}

async function startReal(name: string): Promise<BenchCluster> {
  const api = await startRealCluster({ name, audit: true });
  return {
    api,
    async requests() {
      // A watch may show a write before the log does. When the log has a later request, it has that one, too.
      const last = `/version?${randomUUID()}`;
      await api.admin.request('GET', last);
      const events = await eventually(
        async () => {
          const log = await api.auditLog();
          return log.some(({ requestURI }) => requestURI === last) ? log : undefined;
        },
        isDefined,
        { what: 'the audit log' },
      );
      // A watch has two events, the second one at its end.
      const once = events.filter(({ verb, stage }) => verb !== 'watch' || stage === 'ResponseStarted');
      return once.map(({ user, verb }) => ({ user: user.username, verb }));
    },
  };
}

async function startEmbedded(name: string): Promise<BenchCluster> {
  const api = await startEmbeddedCluster({ name });
  return { api, requests: () => Promise.resolve([...api.requests()]) };
}

async function versionOf({ admin }: TestCluster): Promise<string> {
  const { body } = await admin.request('GET', '/version');
  return String(body['gitVersion']);
}
