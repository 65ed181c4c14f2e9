import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { PodSpec } from './pod-spec.ts';

type Template = {
  readonly metadata?: { readonly labels?: Record<string, string>; readonly annotations?: Record<string, string> };
  readonly spec: PodSpec;
};

/** What a Deployment or DaemonSet says of its Pods. */
type WorkloadSpec = { readonly replicas?: number; readonly template: Template };

const specOf = (workload: KubeObject): WorkloadSpec => workload['spec'] as WorkloadSpec;

/** How many Pods a workload has on these nodes: its replicas, or one per node. @throws {Error} for any other kind */
export function countOf(workload: KubeObject, nodes: number): number {
  if (workload.kind === 'DaemonSet') return nodes;
  if (workload.kind === 'Deployment') return specOf(workload).replicas ?? 1;
  throw new Error(`${workload.kind} ${workload.metadata.name} is neither Deployment nor DaemonSet`);
}

/** A Pod of a workload, as its controller and the scheduler would have made it. */
export function podOf(
  workload: KubeObject,
  { nodeName, suffix }: { readonly nodeName: string; readonly suffix: string },
): KubeObject {
  const { metadata = {}, spec } = specOf(workload).template;
  const { name, namespace = 'default', uid } = workload.metadata;
  const owner = { apiVersion: workload.apiVersion, kind: workload.kind, name, controller: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-${suffix}`,
      namespace,
      labels: { ...metadata.labels },
      ...(metadata.annotations && { annotations: { ...metadata.annotations } }),
      ...(uid !== undefined && { ownerReferences: [{ ...owner, uid }] }),
    },
    spec: { ...spec, nodeName },
  };
}
