import { containsCidr } from './blocks.ts';
import { type Cidr, mustParseCidr, parseCidr } from './cidr.ts';
import { bad, type Parsed } from './parsed.ts';
import { specialUseIn } from './special.ts';

/** As wide as the widest private block of each family, 10.0.0.0/8 and fd00::/8. */
const SHORTEST_PREFIX = 8;

/** Two blocks of the widest allowed kind, as a share of all addresses of a family. */
const MOST = 2 / 2 ** SHORTEST_PREFIX;

/** Reads a range that the config gives to a remote's Pods. @returns the range, or what is wrong with it */
export function parseRange(raw: string): Parsed<Cidr> {
  const parsed = parseCidr(raw);
  const problem = parsed.ok ? rangeProblem(parsed.value) : undefined;
  return problem === undefined ? parsed : bad(problem);
}

/**
 * Why no remote may have a range: all of it has a special use, or it is too wide. A part with a special use is refused address
 * by address. Undefined: a remote may have it.
 */
export function rangeProblem(range: Cidr): string | undefined {
  const { text, prefixLength } = range;
  const use = specialUseIn(range);
  if (use !== undefined && containsCidr(use.cidr, range))
    return `${text} is ${use.what}: no Pod or node has an address there`;
  return prefixLength < SHORTEST_PREFIX
    ? `${text} is too wide for one cluster: it may have a prefix of ${SHORTEST_PREFIX} bits or more`
    : undefined;
}

/** Blocks that organisations use without asking anybody: private, shared, documentation, benchmarking, and class E. */
const OWN = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '192.0.2.0/24',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '198.18.0.0/15',
  '240.0.0.0/4',
  'fc00::/7',
  '2001:db8::/32',
  '3fff::/20',
].map(mustParseCidr);

/** Whether a range, or a part of it, is of addresses that others may have in the Internet. */
export const isPublic = (range: Cidr): boolean => !OWN.some((own) => containsCidr(own, range));

/** Why the ranges of one remote are too wide together, such as all blocks of 8 bits; undefined: they aren't. */
export function widthProblem(ranges: readonly Cidr[]): string | undefined {
  const different = [...new Map(ranges.map((range) => [range.text, range])).values()];
  const wide = ([4, 6] as const).find(
    (family) => different.reduce((sum, each) => sum + (each.family === family ? 2 ** -each.prefixLength : 0), 0) > MOST,
  );
  return wide && `the ranges of IPv${wide} together are too wide for one cluster`;
}

/** Why a remote may not have a part of its ranges, such as the Pods of one of its nodes; undefined: it may. */
export function partProblem(part: Cidr): string | undefined {
  const use = specialUseIn(part);
  if (use === undefined) return undefined;
  return containsCidr(use.cidr, part)
    ? `${part.text} is ${use.what}`
    : `${part.text} has addresses of ${use.cidr.text}, which is ${use.what}`;
}
