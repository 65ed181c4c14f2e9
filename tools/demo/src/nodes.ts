import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { deviceName } from '@kube-semaphore/wireguard/names';
import { node as nodeObject } from '@kube-semaphore/testkit';
import { type NetworkNode, type Place, startNetwork } from '@kube-semaphore/testnet';
import type { AppOptions } from './apps.ts';
import type { DemoCluster } from './demo-cluster.ts';
import type { Started } from './started.ts';

/** The launch of a node's agent, and its config file. */
type Agent = { readonly launch: AppOptions; readonly file: object };

/** The node of a cluster: a machine on a network, with a pod and an agent. */
export type MeshNode = Agent & {
  readonly cluster: DemoCluster;
  readonly remote: DemoCluster;
  readonly machine: NetworkNode;
  readonly pod: Place;
};

/** One node in each cluster. */
export type Nodes = readonly [MeshNode, MeshNode];

/** Where Nodes are in the API. */
export const nodesPath = '/api/v1/nodes';

type NodeOptions = Parameters<typeof nodeObject>[0];

/** Creates the Node of a cluster's node. */
export async function createNode({ server, node }: DemoCluster, more: Partial<NodeOptions>): Promise<void> {
  const { name, podCIDRs } = node;
  await server.admin.create(nodesPath, nodeObject({ name, podCIDRs, ...more }));
}

/** Writes the config file for the agent of a cluster's node. */
export async function prepareAgent(cluster: DemoCluster, remote: DemoCluster): Promise<Agent> {
  const { name, server, node, wireguard } = cluster;
  const { kubeconfig } = remote.wireguard.reader;
  const file = {
    local: { name, kubeConfigPath: wireguard.writer.kubeconfig },
    remotes: [{ name: remote.name, kubeConfigPath: kubeconfig, podSubnet: remote.podNetworks }],
  };
  const config = join(server.dir, 'clusters.json');
  await writeFile(config, JSON.stringify(file));
  const keys = join(server.dir, 'wireguard-keys');
  const flags = { 'clusters-config': config, 'node-name': node.name, 'wg-key-path': keys };
  return { launch: { program: 'semaphore-wireguard', cluster, flags }, file };
}

/** Makes a node in each cluster, as network namespaces on one Ethernet. They reach both API servers. */
export async function buildNodes(started: Started, [c1, c2]: readonly [DemoCluster, DemoCluster], path: string) {
  const network = await started.server(() => startNetwork());
  const add = async (cluster: DemoCluster, remote: DemoCluster): Promise<MeshNode> => {
    const machine = await network.addNode(cluster.node.name);
    for (const { server } of [c1, c2]) await machine.forward(Number(new URL(server.url).port));
    const pod = await machine.addPod(cluster.node.podIps);
    const { launch, file } = await prepareAgent(cluster, remote);
    const node = { cluster, remote, machine, pod, file, launch: { ...launch, place: machine, path } };
    await joinCluster(node);
    return node;
  };
  return Promise.all([add(c1, c2), add(c2, c1)]) satisfies Promise<Nodes>;
}

/** Creates the Node of a machine. */
export const joinCluster = ({ cluster, machine }: MeshNode): Promise<void> =>
  createNode(cluster, { internalIPs: [machine.ipv4, machine.ipv6] });

/** Waits until `wg` shows this number of peers on the device of a node. */
export async function hasPeers({ machine, remote }: MeshNode, count: number): Promise<void> {
  const show = () => machine.run('wg', ['show', deviceName(remote.name), 'peers']);
  await eventually(async () => (await show()).split('\n').length - 1, count);
}
