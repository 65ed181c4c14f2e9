import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject, RealCluster } from '@kube-semaphore/testkit';

const POLL_MS = 100;

/** Gives the Pods of a namespace a node, addresses and a good word, as scheduler and kubelet do, until `signal` says otherwise. */
export async function keepScheduled({ admin }: RealCluster, { namespace, node, prefix, signal }: { readonly namespace: string; readonly node: string; readonly prefix: string; readonly signal: AbortSignal }): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  let count = 0;
  while (!signal.aborted) {
    for (const { metadata } of (await admin.list(path)).filter(isPending)) {
      count += 1;
      const ip = `${prefix}.${count}`;
      await admin.create(`${path}/${metadata.name}/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: metadata.name }, target: { apiVersion: 'v1', kind: 'Node', name: node } });
      await admin.request('PATCH', `${path}/${metadata.name}/status`, { status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: 'True' }] } });
    }
    await delay(POLL_MS, undefined, { signal }).catch(() => {});
  }
}

function isPending({ spec }: KubeObject): boolean {
  return (spec as { nodeName?: string }).nodeName === undefined;
}
