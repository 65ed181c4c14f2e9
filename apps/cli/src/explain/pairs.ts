import type { PodOnNode } from '@kube-semaphore/kube-objects';
import { isFinished, isReleased } from '@kube-semaphore/network-policies';
import { UsageError } from '../usage-error.ts';
import type { Facts, SideFacts } from './facts.ts';
import type { End } from './words.ts';

/** Each takes 25 ms if companions have 5,000 addresses, the most by default. */
const MAX_PAIRS = 1_000;

/** The facts for each pair of Pods that the ends name. @throws {UsageError} if these are too many */
export function pairsOf(facts: Facts): readonly Facts[] {
  const { from, to, here, there } = facts;
  const [callers, targets] = [podsOf(from, here), podsOf(to, there)];
  const count = callers.length * targets.length;
  if (count > MAX_PAIRS)
    throw new UsageError(`--from and --to name ${count} pairs of Pods, more than ${MAX_PAIRS}: name fewer`);
  return callers.flatMap((caller) => targets.map((target) => ({ ...facts, from: caller, to: target })));
}

type Several = Exclude<NonNullable<End['kind']>, 'pod'>;

/** The Pods of a workload or namespace, each by its name; another end, or one without Pods, as it is. */
function podsOf<T extends End>(end: T, { pods }: SideFacts): readonly T[] {
  const { kind } = end;
  if (kind === undefined || kind === 'pod' || !pods.known) return [end];
  const found = pods.value.filter((pod) => isOf(pod, { kind, name: end.name }));
  return found.length === 0 ? [end] : found.map(({ metadata: { name } }) => ({ ...end, kind: 'pod', name }));
}

/** What owns the Pods of a workload. */
const OWNERS = { deployment: 'ReplicaSet', statefulset: 'StatefulSet', daemonset: 'DaemonSet' } as const;

function isOf({ metadata, status }: PodOnNode, { kind, name }: { kind: Several; name: string }): boolean {
  if (isFinished(status) || isReleased(metadata)) return false;
  if (kind === 'namespace') return true;
  return metadata.ownerReferences.some(
    (owner) => owner.kind === OWNERS[kind] && (kind === 'deployment' ? deploymentOf(owner.name) : owner.name) === name,
  );
}

/** A ReplicaSet has the name of its Deployment, and a hash. */
const deploymentOf = (replicaSet: string): string => replicaSet.replace(/-[^-]*$/, '');
