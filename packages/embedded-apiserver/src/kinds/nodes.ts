import { isDeepStrictEqual } from 'node:util';
import { parseCidr } from '@kube-semaphore/net';
import { forbiddenValue, invalidValue } from '../http/causes.ts';
import type { Cause } from '../http/status.ts';
import type { KubeObject } from '../test-cluster.ts';

type Spec = { podCIDR?: string; podCIDRs?: string[] };

const specOf = (node: KubeObject) => (node['spec'] ?? {}) as Spec;

/** `podCIDR` is the first of `podCIDRs`. The client may set either field. */
export function defaultNode(node: KubeObject): KubeObject {
  const spec = specOf(node);
  const podCIDRs = spec.podCIDRs ?? (spec.podCIDR ? [spec.podCIDR] : []);
  return podCIDRs.length === 0 ? { ...node, spec } : { ...node, spec: { ...spec, podCIDR: podCIDRs[0], podCIDRs } };
}

/** The rules that Nodes in our tests could break. */
export function* nodeRules(node: KubeObject, previous?: KubeObject): Generator<Cause> {
  const { podCIDRs = [] } = specOf(node);
  for (const [index, cidr] of podCIDRs.entries()) {
    if (!parseCidr(cidr).ok) yield invalidValue(`spec.podCIDRs[${index}]`, cidr, 'must be a valid CIDR value');
  }
  const families = new Set(podCIDRs.map((cidr) => cidr.includes(':')));
  if (families.size < podCIDRs.length)
    yield invalidValue('spec.podCIDRs', podCIDRs, 'may specify no more than one CIDR for each IP family');
  const { podCIDRs: before = [] } = previous ? specOf(previous) : {};
  if (before.length > 0 && !isDeepStrictEqual(podCIDRs, before)) {
    yield forbiddenValue('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid');
  }
}
