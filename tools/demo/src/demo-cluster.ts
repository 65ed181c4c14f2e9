import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { deployAccount, globalNetworkSetCrd } from '@kube-semaphore/testkit';
import { mirrorNamespace, watchCopies } from './observe.ts';

/** One of the two clusters, with Calico's sets, the accounts of the apps, and a watch of what they write. */
export type DemoCluster = Readonly<Awaited<ReturnType<typeof prepareCluster>>>;

/** @param number the pod networks of 1 are 10.1.0.0/16 and fd00:10:1::/64 */
export async function prepareCluster(server: TestCluster, number: number) {
  await Promise.all([
    server.defineResource(globalNetworkSetCrd('projectcalico.org')),
    ...['shop', 'payments', mirrorNamespace].map((name) =>
      server.admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
    ),
  ]);
  const [policy, mirror, wireguard, history] = await Promise.all([
    createAccounts(
      server,
      ['policy/base', 'policy/components/network-policies'],
      ['policy/remote', 'policy/components/remote-namespaces'],
    ),
    createAccounts(server, ['service-mirror/base', 'service-mirror/components/global'], ['service-mirror/remote']),
    createAccounts(server, ['wireguard/base'], ['wireguard/remote']),
    watchCopies(server),
  ]);
  let pods = 0;
  return {
    name: server.name,
    server,
    podNetworks: [`10.${number}.0.0/16`, `fd00:10:${number}::/64`],
    policy,
    mirror,
    wireguard,
    history,
    /** Its only node, which isn't in the API yet. The pods of workloads are in 10.1.0.0/24, without nodes. */
    node: {
      name: `n${number}`,
      podCIDRs: [`10.${number}.1.0/24`, `fd00:10:${number}:0:1::/80`],
      podIps: [`10.${number}.1.10`, `fd00:10:${number}:0:1::10`] as const,
    },
    /** The addresses of a new pod. */
    nextIps: () => {
      pods += 1;
      return [`10.${number}.0.${pods}`, `fd00:10:${number}::${pods.toString(16)}`];
    },
  };
}

/** The accounts from deploy/, so that the demo shows that their rights are enough. */
async function createAccounts(server: TestCluster, own: readonly string[], remote: readonly string[]) {
  const [writer, reader] = await Promise.all([deployAccount(server, ...own), deployAccount(server, ...remote)]);
  return { writer, reader };
}
