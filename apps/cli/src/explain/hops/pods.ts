import type { PodOnNode } from '@kube-semaphore/kube-objects';
import { addressedPod, overdueText } from '@kube-semaphore/network-policies';
import type { Read } from '../../clusters/objects.ts';
import { kubectl, ok, type SideFacts, unknown, type HopResult, wrong } from '../facts.ts';

type Expected = {
  /** A Pod that is not ready may call others. */
  readonly mustBeReady: boolean;
  /** If there is no such Pod. */
  readonly missing: HopResult;
};

/** Whether a Pod runs and has an address. */
export function podHop(
  { cluster, late }: SideFacts,
  pod: Read<PodOnNode | undefined>,
  { mustBeReady, missing }: Expected,
): HopResult {
  if (!pod.known) return unknown(pod.why);
  if (pod.value === undefined) return missing;
  const { metadata, spec, status } = pod.value;
  const { namespace, name } = metadata;
  const describe = kubectl(cluster, '-n', namespace, 'describe', 'pod', name);
  const loss = late.get(`${namespace}/${name}`);
  if (loss?.known === false) return unknown(loss.why);
  if (loss !== undefined) {
    const reused = loss.value.skipped.map(({ detail }) => detail).join('; ');
    const detail = reused || `${overdueText(addressedPod(pod.value).holder)}, so it is in no set of another cluster`;
    return wrong(detail, kubectl(cluster, 'get', 'node', spec.nodeName));
  }
  const ips = status.podIPs.map(({ ip }) => ip).join(', ');
  if (status.phase !== 'Running' || ips === '')
    return wrong(`${namespace}/${name} is ${status.phase || 'Pending'}`, describe);
  const isReady = status.conditions.some((each) => each.type === 'Ready' && each.status === 'True');
  const network = spec.hostNetwork ? ', in the network of its node' : '';
  const place = `${namespace}/${name} is ${isReady ? '' : 'not '}ready on ${spec.nodeName}${network}, with ${ips}`;
  return isReady || !mustBeReady ? ok(place) : wrong(place, describe);
}
