import { type ClusterPolicy, clusterPolicyKinds } from '@kube-semaphore/kube-objects';
import type { NamedClusterPolicy as SubjectOfPolicy } from '@kube-semaphore/network-policies';
import type { Context } from './contexts.ts';
import { listObjects, type Read, type Run } from './objects.ts';

/** An AdminNetworkPolicy, a BaselineAdminNetworkPolicy or a ClusterNetworkPolicy. */
export type NamedClusterPolicy = SubjectOfPolicy & {
  /** Plural and API group, for kubectl. */
  readonly resource: string;
  readonly version: (typeof clusterPolicyKinds)[number]['version'];
  readonly name: string;
  readonly tier: 'Admin' | 'Baseline';
};

export function namedClusterPolicy(
  { group, version, kind, plural }: (typeof clusterPolicyKinds)[number],
  { metadata: { name }, spec }: ClusterPolicy,
): NamedClusterPolicy {
  const isBaseline = kind === 'BaselineAdminNetworkPolicy' || spec.tier === 'Baseline';
  const tier = isBaseline ? 'Baseline' : 'Admin';
  return { resource: `${plural}.${group}`, subject: `${kind} ${name}`, version, name, tier, spec };
}

/** Empty if the cluster doesn't serve them. @param groups that it serves */
export async function readClusterPolicies(
  context: Context,
  groups: ReadonlySet<string>,
  run: Run,
): Promise<Read<readonly NamedClusterPolicy[]>> {
  const found: NamedClusterPolicy[] = [];
  const kinds = clusterPolicyKinds.filter(({ group }) => groups.has(group));
  const lists = await Promise.all(kinds.map((kind) => listObjects(context, kind, {}, run)));
  for (const [i, list] of lists.entries()) {
    if (!list.known) return list;
    found.push(...list.value.map((object) => namedClusterPolicy(kinds[i]!, object)));
  }
  return { known: true, value: found };
}
