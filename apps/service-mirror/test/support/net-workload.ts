import { createPod, pod, type RealCluster } from '@kube-semaphore/testkit';
import type { NetworkNode } from '@kube-semaphore/testnet';
import { serve } from './net-programs.ts';

/** Where pods run: a Node of a cluster, and the node of the network that is it. */
export type Machine = { readonly cluster: RealCluster; readonly node: NetworkNode };

export type WorkloadOptions = Machine & {
  /** Of the pod, and what it answers with. */
  readonly name: string;
  /** One of each family at most. */
  readonly ips: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
};

/** A pod that answers every connection to port 8080, and that its cluster knows as ready. */
export async function runPod({ cluster, node, name, ips, labels }: WorkloadOptions): Promise<void> {
  await serve(await node.addPod(ips), name);
  const object = pod({ name, ips, labels, nodeName: node.name });
  await createPod(cluster.admin, { ...object, status: { ...(object['status'] as object), ...readiness(true) } });
}

/** What its kubelet would say of a pod. */
export async function setReady(cluster: RealCluster, name: string, isReady: boolean): Promise<void> {
  const path = `/api/v1/namespaces/default/pods/${name}/status`;
  const { status } = await cluster.admin.request('PATCH', path, { status: readiness(isReady) });
  if (status !== 200) throw new Error(`PATCH ${path}: ${status}`);
}

const readiness = (isReady: boolean) => ({ conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] });
