import { randomUUID } from 'node:crypto';
import {
  type EmbeddedCluster,
  type PolicyRule,
  startEmbeddedCluster,
  type TestAccount,
  type TestClient,
} from '@kube-semaphore/embedded-apiserver';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { type RealCluster, startRealCluster } from '@kube-semaphore/testkit';
import { countVerbs, type VerbCounts } from '../measure/requests.ts';

/** A cluster of either kind, with an addition for a bench. */
export type BenchCluster = {
  readonly api: EmbeddedCluster | RealCluster;
  /** All requests of a user so far; of a watch, its start. */
  readonly requests: (user: string) => Promise<readonly { readonly verb: string }[]>;
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

/** Starts a local cluster, and this number of remote ones. */
export async function startClusters({ embedded }: { embedded?: true }, count = 1): Promise<Clusters> {
  const start = embedded === true ? startEmbedded : startReal;
  const names = Array.from({ length: count - 1 }, (_, index) => `remote-${index + 1}`);
  const [local, remote, ...others] = await Promise.all([start('local'), start('remote'), ...names.map(start)]);
  const remotes = [remote, ...others];
  const stop = async () => {
    await Promise.all([local, ...remotes].map(({ api }) => api.stop()));
  };
  const { body: version } = await remote.api.admin.request('GET', '/version');
  const server = embedded === true ? 'the embedded API server' : `kube-apiserver ${String(version['gitVersion'])}`;
  return { remote, remotes, local, server, stop };
}

/** All requests so far, of a ServiceAccount of `TestCluster.account`. */
export async function requestsTo(clusters: readonly BenchCluster[], account: string): Promise<VerbCounts> {
  const user = `system:serviceaccount:kube-system:${account}`;
  return countVerbs((await Promise.all(clusters.map(({ requests }) => requests(user)))).flat());
}

/** Makes an account of this name on all clusters. */
export async function enrol(account: string, { remotes, local }: Clusters, rights: Rights): Promise<Accounts> {
  const readers = await Promise.all(remotes.map(({ api }) => api.account(account, rights.remote)));
  return { remotes: readers, local: await local.api.account(account, rights.local) };
}

/** Creates missing namespaces. */
export async function createNamespaces({ api }: BenchCluster, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await api.admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
}

/** Changes an object. @throws {Error} with the server's message */
export async function send(admin: TestClient, method: 'PATCH' | 'PUT', path: string, body: object): Promise<void> {
  const answer = await admin.request(method, path, body);
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${String(answer.body['message'])}`);
}

async function startReal(name: string): Promise<BenchCluster> {
  const api = await startRealCluster({ name, audit: true });
  const requests: BenchCluster['requests'] = async (asked) => {
    // A watch may show a write before the log does. When the log has a later request, it has that one, too.
    const last = `/version?${randomUUID()}`;
    await api.admin.request('GET', last);
    const complete = async () => {
      const log = await api.auditLog();
      return log.some(({ requestURI }) => requestURI === last) ? log : undefined;
    };
    const events = await eventually(complete, isDefined, { what: 'the audit log' });
    // A watch has two events, the second one at its end.
    const once = events.filter(({ verb, stage }) => verb !== 'watch' || stage === 'ResponseStarted');
    return once.filter(({ user }) => user.username === asked);
  };
  return { api, requests };
}

async function startEmbedded(name: string): Promise<BenchCluster> {
  const api = await startEmbeddedCluster({ name });
  return { api, requests: async (asked) => api.requests().filter(({ user }) => user === asked) };
}
