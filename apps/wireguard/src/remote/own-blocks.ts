import type { Diagnostic } from '@kube-semaphore/multicluster';
import { type Cidr, CidrIndex, compareCidrs, containsCidr, parseCidr } from '@kube-semaphore/net';
import { problemOf } from '../desired/diagnostic.ts';

/** Blocks of addresses that a Node may have, and what is wrong with the others. */
export type OwnBlocks = { readonly cidrs: readonly Cidr[]; readonly skipped: readonly Diagnostic[] };

/**
 * Reads the blocks that a Node says are its own. Each must lie in a pod subnet: what goes to a pod subnet is all that we
 * ever send into a tunnel, and all that we take out of it.
 *
 * @returns the good ones in order, none of them in another
 */
export function readOwnBlocks(raws: readonly string[], podSubnets: readonly Cidr[]): OwnBlocks {
  const [bad, outside]: [string[], string[]] = [[], []];
  const inside: Cidr[] = [];
  for (const raw of raws) {
    const cidr = parseCidr(raw);
    if (!cidr.ok) bad.push(cidr.reason);
    else if (podSubnets.some((subnet) => containsCidr(subnet, cidr.value))) inside.push(cidr.value);
    else outside.push(`${cidr.value.text} is in no pod subnet`);
  }
  const skipped = [...problemOf('bad-cidr', bad), ...problemOf('outside-pod-subnet', outside)];
  return {
    cidrs: withoutParts(inside),
    skipped: raws.length > 0 ? skipped : problemOf('no-cidr', ['the Node has no podCIDRs']),
  };
}

/** The wider of two that begin alike comes first, so what is in another comes after it. */
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
