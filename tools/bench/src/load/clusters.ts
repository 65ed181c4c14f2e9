import {
  globalNetworkSetCrd, pod, startEmbeddedCluster, startRealCluster, type PolicyRule, type TestAccount, type TestCluster,
} from '@kube-semaphore/testkit';
import { type Member, podOptions } from './fleet.ts';
import { seedEtcd } from './seed-etcd.ts';

/** One request, as either server logs it. */
export type LoggedRequest = { readonly user: string; readonly verb: string };

/** A cluster of either kind, with what a bench wants besides. */
type BenchCluster = {
  readonly api: TestCluster;
  /** Puts pods there without a request each. Their namespaces exist. */
  readonly seed: (members: readonly Member[]) => Promise<void>;
  /** All requests so far; of a watch the beginning. */
  readonly requests: () => Promise<LoggedRequest[]>;
};

/** The remote clusters, with pods, and the local one, with the resource for sets. */
export type Clusters = {
  /** Where pods change; the first of `remotes`. */
  readonly remote: BenchCluster;
  readonly remotes: readonly BenchCluster[];
  readonly local: BenchCluster;
  /** What both are, with the version. */
  readonly server: string;
  readonly stop: () => Promise<void>;
};

/** How the API servers call a ServiceAccount that `TestCluster.account` made. */
export const userOf = (account: string): string => `system:serviceaccount:kube-system:${account}`;

/** Starts a local cluster, and so many remote ones. */
export async function startClusters(kind: TestCluster['kind'], { remotes: count }: { remotes: number }): Promise<Clusters> {
  const start = kind === 'real' ? startReal : startEmbedded;
  const names = Array.from({ length: count }, (_, index) => `remote-${index}`);
  const [local, remote, ...others] = await Promise.all([start('local'), start('remote'), ...names.slice(1).map(start)]);
  const remotes = [remote, ...others];
  const stop = async () => {
    await Promise.all([local, ...remotes].map(({ api }) => api.stop()));
  };
  await local.api.defineResource(globalNetworkSetCrd('crd.projectcalico.org'));
  const server = kind === 'real' ? `kube-apiserver ${await versionOf(remote.api)}` : 'the embedded API server';
  return { remote, remotes, local, server, stop };
}

/** The rights and files of one program on both clusters. */
export async function enrol(
  account: string,
  { remotes, local }: Pick<Clusters, 'remotes' | 'local'>,
): Promise<{ remotes: readonly TestAccount[]; local: TestAccount }> {
  const readers = await Promise.all(remotes.map(({ api }) => api.account(account, readPods)));
  return { remotes: readers, local: await local.api.account(account, writeSets) };
}

const readPods: PolicyRule[] = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }];

const writeSets: PolicyRule[] = [
  {
    apiGroups: ['crd.projectcalico.org', 'projectcalico.org'],
    resources: ['globalnetworksets'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  },
];

async function startReal(name: string): Promise<BenchCluster> {
  const api = await startRealCluster({ name, audit: true });
  return {
    api,
    seed: (members) => seedEtcd(api, api.etcdSocket, members),
    async requests() {
      const events = await api.auditLog();
      // A watch has two events, and the second one comes when it ends.
      const once = events.filter(({ verb, stage }) => verb !== 'watch' || stage === 'ResponseStarted');
      return once.map(({ user, verb }) => ({ user: user.username, verb }));
    },
  };
}

async function startEmbedded(name: string): Promise<BenchCluster> {
  const api = await startEmbeddedCluster({ name });
  return {
    api,
    async seed(members) {
      api.seed(members.map((member) => pod(podOptions(member))));
    },
    requests: () => Promise.resolve([...api.requests()]),
  };
}

async function versionOf({ admin }: TestCluster): Promise<string> {
  const { body } = await admin.request('GET', '/version');
  return String(body['gitVersion']);
}
