import { createPod, pod, type RealCluster } from '@kube-semaphore/testkit';
import type { NetworkNode } from '@kube-semaphore/testnet';
import { serve } from './programs.ts';

/** Where pods run: a Node of a cluster, and its node of the network. */
export type Machine = { readonly cluster: RealCluster; readonly node: NetworkNode };

export type WorkloadOptions = Machine & {
  /** The name of the pod, which is also its answer. */
  readonly name: string;
  /** At most one of each family. */
  readonly ips: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
};

/** A ready pod that answers every connection to port 8080. */
export async function runPod({ cluster, node, name, ips, labels }: WorkloadOptions): Promise<void> {
  await serve(await node.addPod(ips), name);
  const object = pod({ name, ips, labels, nodeName: node.name });
  await createPod(cluster.admin, { ...object, status: { ...(object['status'] as object), ...readiness(true) } });
}

/** The status that a kubelet would report for a pod. */
export async function setReady(cluster: RealCluster, name: string, isReady: boolean): Promise<void> {
  const path = `/api/v1/namespaces/default/pods/${name}/status`;
  const { status } = await cluster.admin.request('PATCH', path, { status: readiness(isReady) });
  if (status !== 200) throw new Error(`PATCH ${path}: ${status}`);
}

const readiness = (isReady: boolean) => ({ conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] });
