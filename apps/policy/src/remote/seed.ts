import { readNet } from '../desired/addresses.ts';
import type { OwnSet } from '../local/sets.ts';
import type { Member } from '../desired/member.ts';
import { readOwner } from '../desired/labels.ts';

/**
 * The members that our sets of a cluster remember from before we started, one per address. They are held until the
 * remote's first list shows who has these addresses now: so that this list, too, can be measured by what it takes away.
 *
 * @param domains of labels, those that count
 * @returns each with a key that no Pod has
 */
export function seedOf(
  sets: readonly OwnSet[],
  cluster: string,
  domains: readonly string[],
): ReadonlyMap<string, Member> {
  const seed = new Map<string, Member>();
  for (const { set, cluster: of } of sets) {
    const pair = readOwner(set.labels, domains)?.pair;
    if (of !== cluster || pair === undefined) continue;
    for (const net of set.nets) {
      const ip = hostOf(net);
      if (ip === undefined) continue;
      const name = `${pair.app}@${ip}`;
      seed.set(`${pair.namespace}/${name}`, {
        uid: '',
        namespace: pair.namespace,
        name,
        app: pair.app,
        ips: [ip],
        hostNetwork: false,
        held: true,
      });
    }
  }
  return seed;
}

/** The address of a net that is one host; a wider one is nothing that a Pod ever had. */
function hostOf(net: string): string | undefined {
  const cidr = readNet(net);
  return cidr?.endsWith(cidr.includes(':') ? '/128' : '/32') === true
    ? cidr.slice(0, cidr.lastIndexOf('/'))
    : undefined;
}
