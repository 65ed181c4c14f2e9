import { pageOf, printable } from '@kube-semaphore/text';
import {
  type AllowedBy,
  companionText,
  type ExplainedFlow,
  ruleText,
  type Side,
} from '@kube-semaphore/network-policies';
import type { Explanation } from './explain.ts';

/** For people. Ends in a line break. */
export function explainText({ flows, late, otherPolicies }: Explanation): string {
  const ignored = otherPolicies.map(({ cluster, groups }) => `${cluster} has ${groups.join(', ')}`);
  const groups = ignored.length === 0 ? '' : ` (${ignored.join('; ')})`;
  const elsewhere = BY_SEMAPHORE.filter((group) => otherPolicies.some((each) => each.groups.includes(group)));
  return pageOf([
    ...flows.flatMap((flow) => [...flowLines(flow), '']),
    ...late.map((each) => `note: ${printable(each)}`),
    `not considered: other kinds of policies${groups}, and whether the CNI enforces NetworkPolicies`,
    ...(elsewhere.length === 0 ? [] : [`semaphore explain also considers policies of ${elsewhere.join(', ')}`]),
  ]);
}

/** API groups whose policies the program `semaphore` evaluates. */
const BY_SEMAPHORE = ['crd.projectcalico.org', 'policy.networking.k8s.io', 'projectcalico.org'];

function flowLines({ from, to, port, pods, sides, outside, verdict }: ExplainedFlow): readonly string[] {
  return [
    `${endText(from, pods.from)} -> ${endText(to, pods.to)}, ${port}: ${verdict}`,
    ...sides.flatMap(sideLines),
    ...(outside === undefined ? [] : [`${printable(outside)}, so only the other side is asked`]),
  ];
}

const endText = (name: string, pods: number): string =>
  pods > 1 ? `${printable(name)} (and ${pods - 1} more)` : printable(name);

function sideLines(side: Side): readonly string[] {
  const title = `${side.direction === 'egress' ? 'out of' : 'into'} ${side.cluster}`;
  if (!side.known) return [`${title}: unknown: ${printable(side.failure)}`];
  const { allowed, by, isolatedBy, misses } = side;
  const isolating = `isolated by ${isolatedBy.length === 0 ? 'a companion alone' : namesText(isolatedBy)}`;
  if (by !== undefined)
    return [`${title}: allowed by ${printable(ruleText(by))}`, `  the Pod is ${isolating}`, ...companionLines(by)];
  if (allowed) {
    const why = isolatedBy.length === 0 ? `no NetworkPolicy selects the Pod for ${side.direction}` : HOST_NETWORK;
    return [`${title}: allowed: ${why}`];
  }
  return [
    `${title}: denied: ${isolating}`,
    ...misses.map(({ networkPolicy, detail }) => `  ${printable(networkPolicy)}: ${printable(detail)}`),
  ];
}

const HOST_NETWORK = 'the Pod uses the network of its node, where CNIs ignore NetworkPolicies';

const namesText = (names: readonly string[]): string => names.map((name) => printable(name)).join(', ');

function companionLines({ networkPolicy, detail, companion }: AllowedBy): readonly string[] {
  if (companion === undefined) return [];
  return [
    ...(detail === undefined ? [] : [`  ${printable(networkPolicy)}: ${printable(detail)}`]),
    `  ${printable(companionText(companion))}`,
  ];
}
