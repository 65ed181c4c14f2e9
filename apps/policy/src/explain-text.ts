import { pageOf, printable } from '@kube-semaphore/text';
import type { AllowedBy } from './desired/network-policies/verdict.ts';
import type { ExplainedFlow, Explanation, Side } from './explain.ts';

/** For people. Ends in a line break. */
export function explainText({ flows, otherPolicies }: Explanation): string {
  const ignored = otherPolicies.map(({ cluster, groups }) => `${cluster} has ${groups.join(', ')}`);
  const groups = ignored.length === 0 ? '' : ` (${ignored.join('; ')})`;
  const elsewhere = BY_SEMAPHORE.filter((group) => otherPolicies.some((each) => each.groups.includes(group)));
  return pageOf([
    ...flows.flatMap((flow) => [...flowLines(flow), '']),
    `not considered: other kinds of policies${groups}, and whether the CNI enforces NetworkPolicies`,
    ...(elsewhere.length === 0 ? [] : [`semaphore explain also considers policies of ${elsewhere.join(', ')}`]),
  ]);
}

/** API groups whose policies the program `semaphore` evaluates. */
const BY_SEMAPHORE = ['crd.projectcalico.org', 'policy.networking.k8s.io', 'projectcalico.org'];

function flowLines({ from, to, port, sides, verdict }: ExplainedFlow): readonly string[] {
  return [`${printable(from)} -> ${printable(to)}, ${port}: ${verdict}`, ...sides.flatMap(sideLines)];
}

function sideLines(side: Side): readonly string[] {
  const title = `${side.direction === 'egress' ? 'out of' : 'into'} ${side.cluster}`;
  if (!side.known) return [`${title}: unknown: ${printable(side.failure)}`];
  const { allowed, by, isolatedBy, misses } = side;
  if (by !== undefined) return [`${title}: allowed by ${ruleText(by)}`, ...companionLine(by)];
  if (allowed) {
    const why = isolatedBy.length === 0 ? `no NetworkPolicy selects the Pod for ${side.direction}` : HOST_NETWORK;
    return [`${title}: allowed: ${why}`];
  }
  const isolating =
    isolatedBy.length === 0
      ? 'a companion whose NetworkPolicy is gone'
      : isolatedBy.map((name) => printable(name)).join(', ');
  return [
    `${title}: denied: isolated by ${isolating}`,
    ...misses.map(({ networkPolicy, detail }) => `  ${printable(networkPolicy)}: ${printable(detail)}`),
  ];
}

const HOST_NETWORK = 'the Pod uses the network of its node, where CNIs ignore NetworkPolicies';

const ruleText = ({ networkPolicy, rule, peer }: AllowedBy): string =>
  `${printable(networkPolicy)}, rule ${rule}${peer === undefined ? ', for everybody' : `, peer ${peer}`}`;

function companionLine({ companion, companionWrittenAt: at }: AllowedBy): readonly string[] {
  if (companion === undefined) return [];
  return [
    `  its companion ${printable(companion)} has the address${at === undefined ? '' : `, last written at ${at}`}`,
  ];
}
