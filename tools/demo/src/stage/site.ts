import type { TestAccount, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { deployAccount, node as nodeObject, type NodeOptions } from '@kube-semaphore/testkit';
import type { Watched } from './latest.ts';
import { type Mirror, mirrorNamespace, watchMirrors, watchMirrorsRules } from './mirror-watch.ts';
import { type NetworkSet, networkSetCrd, watchSets, watchSetsRules } from './set-watch.ts';
import { Workload } from './workload.ts';

/** The addresses of a cluster's pods. */
type PodNetwork = { readonly v4: string; readonly v6: string };

/** A node of a cluster. */
type SiteNode = {
  readonly name: string;
  readonly podCIDRs: readonly [v4: string, v6: string];
  /** Of a pod on it. */
  readonly podIps: { readonly v4: string; readonly v6: string };
};

/** Where Nodes are in the API. */
export const nodesPath = '/api/v1/nodes';

/** Whom an app is on both sides: in the cluster where it runs and writes, and in the one that it reads. */
type Accounts = { readonly writer: TestAccount; readonly reader: TestAccount };

/** The folders of deploy/ that have the accounts of each app. */
const folders: Readonly<Record<'policy' | 'mirror' | 'wireguard', Readonly<Record<keyof Accounts, readonly string[]>>>> = {
  policy: { writer: ['policy/base'], reader: ['policy/remote'] },
  mirror: { writer: ['service-mirror/base', 'service-mirror/components/global'], reader: ['service-mirror/remote'] },
  wireguard: { writer: ['wireguard/base'], reader: ['wireguard/remote'] },
};

/** One of the two clusters, prepared: what may be seen and done in it. */
export type Site = {
  readonly name: string;
  readonly server: TestCluster;
  readonly network: PodNetwork;
  /** For semaphore-policy: the writer for that which runs here, the reader for that of the other cluster. */
  readonly policy: Accounts;
  /** The same for semaphore-service-mirror. */
  readonly mirror: Accounts;
  /** And for semaphore-wireguard. */
  readonly wireguard: Accounts;
  /** Its only node, of which there is no Node yet. */
  readonly node: SiteNode;
  readonly sets: Watched<NetworkSet>;
  readonly mirrors: Watched<Mirror>;
  /** Somebody's app in a namespace of its own, without pods yet. */
  workload(namespace: string, app: string): Promise<Workload>;
};

/**
 * Makes of a bare cluster one where Calico is installed, accounts exist and the demo watches the sets and mirrors.
 *
 * @param number makes pod networks differ: 1 is 10.1.0.0/16 and fd00:10:1::/64
 * @param onFailure called when the demo can't watch any longer
 */
export async function prepareSite(
  server: TestCluster,
  { number, onFailure }: { number: number; onFailure: (error: Error) => void },
): Promise<Site> {
  const createNamespace = async (name: string) =>
    server.admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await Promise.all([server.defineResource(networkSetCrd), createNamespace(mirrorNamespace)]);
  const [policy, mirror, wireguard, { token }] = await Promise.all([
    createAccounts(server, folders.policy),
    createAccounts(server, folders.mirror),
    createAccounts(server, folders.wireguard),
    server.account('demo', [...watchSetsRules, ...watchMirrorsRules]),
  ]);
  const audience = { token, onEnd: onFailure };
  const [sets, mirrors] = await Promise.all([watchSets(server, audience), watchMirrors(server, audience)]);
  let pods = 0;
  const nextIps = () => {
    pods += 1;
    return [`10.${number}.0.${pods}`, `fd00:10:${number}::${pods.toString(16)}`];
  };
  return {
    name: server.name,
    server,
    network: { v4: `10.${number}.0.0/16`, v6: `fd00:10:${number}::/64` },
    policy,
    mirror,
    wireguard,
    // The pods of other scenes are in 10.1.0.0/24, on nodes that nobody sees.
    node: {
      name: `n${number}`,
      podCIDRs: [`10.${number}.1.0/24`, `fd00:10:${number}:0:1::/80`],
      podIps: { v4: `10.${number}.1.10`, v6: `fd00:10:${number}:0:1::10` },
    },
    sets,
    mirrors,
    async workload(namespace, app) {
      // That one is there from the beginning.
      if (namespace !== 'default') await createNamespace(namespace);
      return new Workload({ server, namespace, app, nextIps });
    },
  };
}

/** Creates the Node of a cluster's node, with what it says besides its pods' addresses. */
export async function createNode({ server, node: { name, podCIDRs } }: Site, more: Pick<NodeOptions, 'internalIPs' | 'annotations'>): Promise<void> {
  await server.admin.create(nodesPath, nodeObject({ name, podCIDRs, ...more }));
}

/** The accounts that are deployed, so that the demo shows what their rights are enough for. */
async function createAccounts(server: TestCluster, { writer, reader }: (typeof folders)[keyof typeof folders]): Promise<Accounts> {
  const accounts = await Promise.all([deployAccount(server, ...writer), deployAccount(server, ...reader)]);
  return { writer: accounts[0], reader: accounts[1] };
}
