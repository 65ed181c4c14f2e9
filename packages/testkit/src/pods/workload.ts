import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { Kubelet } from './kubelet.ts';
import { countOf, podOf } from './pod-object.ts';
import type { RunningPod } from './running-pod.ts';

/** Of which Pods of a workload it is about. */
export type Selection = {
  /** In their names, to tell them from those of another revision. Default: none. */
  readonly revision?: string;
  /** How many, instead of as many as a Deployment says. */
  readonly replicas?: number;
};

/**
 * Runs the Pods of a Deployment or DaemonSet, as its controller, the scheduler and the kubelets of these nodes would: those
 * of a DaemonSet on each, those of a Deployment on one after the other.
 *
 * @param workload as the API server has it
 * @returns as soon as all have been started; `ready()` of each waits
 */
export async function runWorkload(
  workload: KubeObject,
  kubelets: readonly Kubelet[],
  { revision, replicas }: Selection = {},
): Promise<readonly RunningPod[]> {
  return Promise.all(
    Array.from({ length: replicas ?? countOf(workload, kubelets.length) }, async (_, index) => {
      const kubelet = kubelets[index % kubelets.length];
      if (kubelet === undefined) throw new Error(`no node for ${workload.metadata.name}`);
      const own = workload.kind === 'DaemonSet' ? kubelet.nodeName : String(index);
      const suffix = revision === undefined ? own : `${revision}-${own}`;
      return kubelet.run(podOf(workload, { nodeName: kubelet.nodeName, suffix }));
    }),
  );
}
