import { type Diagnostic, familyNames } from '@kube-semaphore/multicluster';
import {
  type AddressRules,
  type Cidr,
  CidrIndex,
  compareCidrs,
  containsCidr,
  isUsedFamily,
  parseCidr,
  partProblem,
} from '@kube-semaphore/net';
import { problemOf } from '../desired/diagnostic.ts';

/** The blocks of addresses that a Node may have, and why others are skipped. */
export type OwnBlocks = { readonly cidrs: readonly Cidr[]; readonly skipped: readonly Diagnostic[] };

/** Whether a tunnel carries a block: it is in a pod subnet, and Pods can have all of its addresses. */
export const isCarried = (cidr: Cidr, podSubnets: readonly Cidr[]): boolean =>
  isInside(cidr, podSubnets) && partProblem(cidr) === undefined;

const isInside = (cidr: Cidr, podSubnets: readonly Cidr[]): boolean =>
  podSubnets.some((subnet) => containsCidr(subnet, cidr));

/**
 * Reads the podCIDRs of a Node. Each must be in a pod subnet: a tunnel carries nothing else.
 *
 * @returns the valid ones in order, none of them in another
 */
export function readOwnBlocks(
  raws: readonly string[],
  { podSubnets, families }: { readonly podSubnets: readonly Cidr[] } & Pick<AddressRules, 'families'>,
): OwnBlocks {
  const [bad, outside]: [string[], string[]] = [[], []];
  const inside: Cidr[] = [];
  let isEmpty = true;
  for (const raw of raws) {
    const cidr = parseCidr(raw);
    if (cidr.ok && !isUsedFamily(cidr.value.family, { families })) continue;
    isEmpty = false;
    if (!cidr.ok) bad.push(cidr.reason);
    else if (!isInside(cidr.value, podSubnets)) outside.push(`${cidr.value.text} is in no pod subnet`);
    else {
      const problem = partProblem(cidr.value);
      if (problem === undefined) inside.push(cidr.value);
      else bad.push(problem);
    }
  }
  const used = families === undefined ? '' : ` of ${familyNames(families)!.join(', ')}`;
  if (isEmpty) return { cidrs: [], skipped: problemOf('no-cidr', [`the Node has no podCIDRs${used}`]) };
  const skipped = [...problemOf('bad-cidr', bad), ...problemOf('outside-pod-subnet', outside)];
  return { cidrs: withoutParts(inside), skipped };
}

/** Of two blocks with the same address the wider one sorts first, so a block comes after the one that contains it. */
function withoutParts(cidrs: readonly Cidr[]): readonly Cidr[] {
  const index = new CidrIndex<Cidr>();
  return cidrs
    .toSorted((a, b) => compareCidrs(a.text, b.text))
    .filter((cidr) => {
      const isNew = index.overlapping(cidr) === undefined;
      if (isNew) index.add(cidr, cidr);
      return isNew;
    });
}
