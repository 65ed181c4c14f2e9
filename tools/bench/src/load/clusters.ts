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

/** One request, as either server logs it. */
export type LoggedRequest = { readonly user: string; readonly verb: string };

/** A cluster of either kind, with what a bench wants besides. */
export type BenchCluster = {
  readonly api: EmbeddedCluster | RealCluster;
  /** All requests so far; of a watch the beginning. */
  readonly requests: () => Promise<LoggedRequest[]>;
};

/** The remote clusters and the local one, all empty. */
export type Clusters = {
  /** Where things change; the first of `remotes`. */
  readonly remote: BenchCluster;
  readonly remotes: readonly BenchCluster[];
  readonly local: BenchCluster;
  /** What both are, with the version. */
  readonly server: string;
  readonly stop: () => Promise<void>;
};

/** What a program may do, on the remote clusters and on the local one. */
export type Rights = { readonly remote: readonly PolicyRule[]; readonly local: readonly PolicyRule[] };

/** Whom a program is, on each of the clusters. */
export type Accounts = { readonly remotes: readonly TestAccount[]; readonly local: TestAccount };

/** Connections for what has to be done and isn't measured. */
export const CONNECTIONS = 16;

/** What a program is told that the remote clusters are called, as `remotes` has them. */
export const clusterName = (index: number): string => `c${index + 2}`;

/** How the API servers call a ServiceAccount that `TestCluster.account` made. */
export const userOf = (account: string): string => `system:serviceaccount:kube-system:${account}`;

/** Starts a local cluster, and so many remote ones. */
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

/** Creates namespaces that aren't there. */
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
      // A watch may show what a request did before the log has it. When it has one that came later, it has that, too.
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
      // A watch has two events, and the second one comes when it ends.
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
