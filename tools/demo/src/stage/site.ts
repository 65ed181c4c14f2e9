import type { TestAccount, TestCluster } from '@kube-semaphore/testkit';
import { networkSetCrd, SetWatch, watchSetsRules } from './set-watch.ts';
import { Workload } from './workload.ts';

/** The addresses of a cluster's pods. */
type PodNetwork = { readonly v4: string; readonly v6: string };

/** The least that the app must be allowed in the cluster that it writes to. */
const writerRules = [
  {
    apiGroups: ['projectcalico.org'],
    resources: ['globalnetworksets'],
    verbs: ['list', 'watch', 'create', 'update', 'delete'],
  },
  // Only used with -leader-elect.
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
];

/** The least that the app must be allowed in the cluster that it reads. */
const readerRules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] }];

/** One of the two clusters, prepared: what may be seen and done in it. */
export type Site = {
  readonly name: string;
  readonly server: TestCluster;
  readonly network: PodNetwork;
  /** For the app that runs here. */
  readonly writer: TestAccount;
  /** For the app of the other cluster. */
  readonly reader: TestAccount;
  readonly sets: SetWatch;
  /** Somebody's app in a namespace of its own, without pods yet. */
  workload(namespace: string, app: string): Promise<Workload>;
};

/**
 * Makes of a bare cluster one where Calico is installed, accounts exist and the demo watches the sets.
 *
 * @param number makes pod networks differ: 1 is 10.1.0.0/16 and fd00:10:1::/64
 * @param onFailure called when the demo can't watch any longer
 */
export async function prepareSite(
  server: TestCluster,
  { number, onFailure }: { number: number; onFailure: (error: Error) => void },
): Promise<Site> {
  await server.defineResource(networkSetCrd);
  const [writer, reader, audience] = await Promise.all([
    server.account('semaphore-policy', writerRules),
    server.account('semaphore-policy-remote', readerRules),
    server.account('demo', watchSetsRules),
  ]);
  let pods = 0;
  const nextIps = () => {
    pods += 1;
    return [`10.${number}.0.${pods}`, `fd00:10:${number}::${pods.toString(16)}`];
  };
  return {
    name: server.name,
    server,
    network: { v4: `10.${number}.0.0/16`, v6: `fd00:10:${number}::/64` },
    writer,
    reader,
    sets: await SetWatch.open(server, { token: audience.token, onEnd: onFailure }),
    async workload(namespace, app) {
      const metadata = { name: namespace };
      await server.admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
      return new Workload({ server, namespace, app, nextIps });
    },
  };
}
