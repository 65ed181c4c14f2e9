import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { createPod, pod } from '@kube-semaphore/testkit';
import { type Entry, Etcd } from '../load/etcd.ts';
import { Stamp } from '../load/stamp.ts';
import type { Fleet, Member } from './fleet.ts';

/**
 * Writes pods into a real cluster's etcd, where its API server sees them as it sees writes of its peers. 50,000 take half
 * a minute, instead of 4 minutes through the API. The first pod is made through the API. The others are its bytes with
 * other names, so all have this server's format.
 *
 * The namespaces must exist.
 */
export async function seedEtcd(cluster: TestCluster, socketPath: string, fleet: Fleet): Promise<void> {
  const [first, ...others] = fleet.members;
  if (first === undefined) return;
  await createPod(cluster.admin, pod(fleet.podOptions(first)));
  const stored = await cluster.admin.get(podPath(first));
  const etcd = new Etcd(socketPath);
  try {
    const placeholders = { ...first, uid: stored.metadata.uid ?? '' };
    const stamp = new Stamp(await etcd.get(keyOf(first)), placeholders);
    await etcd.putAll(entries(others, stamp));
  } finally {
    etcd.close();
  }
  const last = others.at(-1) ?? first;
  await check(cluster, last, { labels: pod(fleet.podOptions(last)).metadata.labels, spec: stored['spec'] });
}

/**
 * Checks that the API server reads the last pod correctly, and so all pods, as nothing validates writes to etcd.
 *
 * @throws {Error} if it doesn't
 */
async function check({ admin }: TestCluster, member: Member, like: object): Promise<void> {
  const { metadata, spec, status } = await admin.get(podPath(member));
  const { podIPs } = status as { podIPs: unknown };
  const seen = { name: metadata.name, labels: metadata.labels, podIPs, spec };
  const meant = { name: member.name, podIPs: [{ ip: member.ip }], ...like };
  if (!isDeepStrictEqual(seen, meant))
    throw new Error(`the API server returns another ${member.name} than was written`);
}

function* entries(members: readonly Member[], stamp: Stamp<keyof Member | 'uid'>): Generator<Entry> {
  for (const member of members) yield { key: keyOf(member), value: stamp.with({ ...member, uid: randomUUID() }) };
}

/** The etcd key of a pod, with kube-apiserver's default `--etcd-prefix`. */
function keyOf({ namespace, name }: Member): string {
  return `/registry/pods/${namespace}/${name}`;
}

function podPath({ namespace, name }: Member): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}
