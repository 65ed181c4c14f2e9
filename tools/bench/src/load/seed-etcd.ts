import { randomUUID } from 'node:crypto';
import { createPod, pod, type TestCluster } from '@kube-semaphore/testkit';
import { type Entry, Etcd } from './etcd.ts';
import { type Member, podOptions } from './fleet.ts';
import { Stamp } from './stamp.ts';

/**
 * Puts pods into a real cluster's etcd, behind the back of its API server, which learns of them from there as it does
 * of what its peers write: 50,000 take 20 s, and take 4 minutes through the API. The first one is made through the
 * API, and the others are its bytes with other names, so that all are stored just as this server stores pods.
 *
 * The namespaces exist.
 */
export async function seedEtcd(
  cluster: TestCluster,
  socketPath: string,
  [first, ...others]: readonly Member[],
): Promise<void> {
  if (first === undefined) return;
  await createPod(cluster.admin, pod(podOptions(first)));
  const { metadata } = await cluster.admin.get(`/api/v1/namespaces/${first.namespace}/pods/${first.name}`);
  const etcd = new Etcd(socketPath);
  try {
    const placeholders = { ...first, uid: metadata.uid ?? '' };
    const stamp = new Stamp(await etcd.get(keyOf(first)), placeholders);
    await etcd.putAll(entries(others, stamp));
  } finally {
    etcd.close();
  }
}

function* entries(members: readonly Member[], stamp: Stamp<keyof Member | 'uid'>): Generator<Entry> {
  for (const member of members) yield { key: keyOf(member), value: stamp.with({ ...member, uid: randomUUID() }) };
}

/** Where kube-apiserver keeps a pod, with its default `--etcd-prefix`. */
function keyOf({ namespace, name }: Member): string {
  return `/registry/pods/${namespace}/${name}`;
}
