import {
  type Cidr,
  compareCidrs,
  contains,
  containsCidr,
  familyOf,
  isPublic,
  parseCidr,
  parseIp,
  rangeProblem,
  widthProblem,
} from '@kube-semaphore/net';
import { answerOf, type Clues, type Found, found, notFound, type Sought } from './found.ts';
import type { Observed } from './observe.ts';

/** Nodes come and go, but mostly within networks of at most this size. */
const NETWORK_BITS = { 4: 16, 6: 48 } as const;

/** What ranges are of, and how the user names them. */
type Asked = {
  readonly context: string;
  readonly flag: string;
  /** What the user says. */
  readonly answer: Found<readonly string[]> | undefined;
};

/** The addresses of its Pods. */
export function podCidrsOf({ observed, answers, given }: Clues): Sought<readonly Cidr[]> {
  const { context, nodes } = observed;
  const answer = answerOf(answers.podCidrs, given.podCidrs, '--pod-cidr');
  const asked = { context, flag: '--pod-cidr', answer };
  const pools = observed.pools
    .filter(({ disabled, allowedUses }) => disabled !== true && (allowedUses?.includes('Workload') ?? true))
    .map(({ cidr }) => cidr);
  const own = nodes.flatMap((node) => node.podCidrs);
  const some = own.length === 0 ? '' : ` (its Nodes have ${own.slice(0, 3).join(', ')}${own.length > 3 ? ', …' : ''})`;
  const ranges = firstOf(asked, `the range of all Pods is not known${some}`, [
    { value: pools, source: "Calico's IPPools" },
    { value: observed.podSubnet?.split(',') ?? [], source: 'ConfigMap kube-system/kubeadm-config' },
  ]);
  return ranges.known ? checkedRanges(ranges.value, 'Pods', asked) : ranges;
}

/** The addresses of its Services. */
export function serviceCidrsOf({ observed, answers, given }: Clues): Sought<readonly Cidr[]> {
  const { context, serviceCidrs = [], serviceSubnet } = observed;
  const flag = '--service-cidr';
  const answer = answerOf(answers.serviceCidrs, given.serviceCidrs, flag);
  return firstOf({ context, flag, answer }, 'the range of Services is not known', [
    { value: serviceCidrs, source: 'ServiceCIDRs' },
    { value: serviceSubnet?.split(',') ?? [], source: 'ConfigMap kube-system/kubeadm-config' },
  ]);
}

/** Around the nodes that it has now: limits for these alone would refuse those that a cluster gets later. */
export function nodeCidrsOf({ observed, answers, given }: Clues): Sought<readonly Cidr[]> {
  const { context, nodes } = observed;
  const answer = answerOf(answers.nodeCidrs, given.nodeCidrs, '--node-cidr');
  const asked = { context, flag: '--node-cidr', answer };
  const around = canonical(nodes.flatMap(({ internalIps }) => internalIps)).map(
    (ip) => `${ip}/${NETWORK_BITS[familyOf(ip)]}`,
  );
  const ranges = firstOf(asked, 'the range of its nodes is not known, as no Node has an InternalIP', [
    { value: around, source: 'around InternalIPs of its Nodes' },
  ]);
  if (!ranges.known) return ranges;
  const { value: cidrs, source } = ranges.value;
  const outside = nodes.find(({ internalIps }) =>
    canonical(internalIps).some((ip) => !cidrs.some((cidr) => contains(cidr, ip))),
  );
  return outside === undefined
    ? checkedRanges(ranges.value, 'nodes', asked)
    : notFound(
        `Node ${outside.name} is at ${outside.internalIps.join(', ')}, which is outside ${cidrList(cidrs)} ` +
          `(${source}): set --node-cidr ${context}=CIDR`,
      );
}

/** Why a Node has Pods outside of their ranges; undefined: it has none there. */
export function strayNode({ context, nodes }: Observed, { value, source }: Found<readonly Cidr[]>): string | undefined {
  const isOutside = (raw: string): boolean => {
    const cidr = parseCidr(raw);
    return cidr.ok && !value.some((range) => containsCidr(range, cidr.value));
  };
  for (const { name, podCidrs } of nodes) {
    const outside = podCidrs.find(isOutside);
    if (outside !== undefined)
      return `Node ${name} has ${outside}, which is outside ${cidrList(value)} (${source}): set --pod-cidr ${context}=CIDR`;
  }
  return undefined;
}

/** The ranges of the answer, or of the first source that has any; sorted. */
function firstOf(
  { context, flag, answer }: Asked,
  missing: string,
  sources: readonly Found<readonly string[]>[],
): Sought<readonly Cidr[]> {
  const advice = `set ${flag} ${context}=CIDR`;
  const first = [...(answer === undefined ? [] : [answer]), ...sources].find(({ value }) => value.length > 0);
  if (first === undefined) return notFound(`${missing}: ${advice}`);
  const parsed = first.value.map((raw) => parseCidr(raw.trim()));
  const bad = parsed.find(({ ok }) => !ok);
  if (bad?.ok === false) return notFound(`${first.source}: ${bad.reason}: ${advice}`);
  const cidrs = new Map(parsed.flatMap((each) => (each.ok ? [[each.value.text, each.value] as const] : [])));
  return found(
    [...cidrs.values()].toSorted((a, b) => compareCidrs(a.text, b.text)),
    first.source,
  );
}

/** A cluster may not choose what others let in and route to it: its ranges are checked, and public ones need a flag. */
function checkedRanges(
  { value, source }: Found<readonly Cidr[]>,
  whose: string,
  { context, flag, answer }: Asked,
): Sought<readonly Cidr[]> {
  const advice = `set ${flag} ${context}=CIDR`;
  const reason = value.map(rangeProblem).find((each) => each !== undefined) ?? widthProblem(value);
  if (reason !== undefined) return notFound(`${source}: ${reason}: ${advice}`);
  const open = answer === undefined ? value.find(isPublic) : undefined;
  if (open === undefined) return found(value, source);
  return notFound(`${source}: ${open.text} is a public range: if its ${whose} really have such addresses, ${advice}`);
}

export const cidrList = (cidrs: readonly Cidr[]): string => cidrs.map(({ text }) => text).join(', ');

/** The addresses among texts: a Node has host names, too. */
export const canonical = (texts: readonly string[]): readonly string[] =>
  texts.flatMap((raw) => {
    const ip = parseIp(raw);
    return ip.ok ? [ip.value] : [];
  });
