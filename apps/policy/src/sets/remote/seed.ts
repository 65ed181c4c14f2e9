import { readNet } from '../desired/addresses.ts';
import type { Member } from '../desired/member.ts';
import type { ObservedSet } from '../desired/network-set.ts';
import { readOwner } from '../desired/labels.ts';

/**
 * The members that our sets of a cluster had before we started, one per address. They are held until the remote's first
 * list shows which Pods have these addresses now, so the deletion guard can measure that list, too.
 *
 * @param sets of one cluster
 * @param domains as of `readOwner`
 * @returns each with a key that no Pod has
 */
export function seedOf(sets: readonly ObservedSet[], domains: readonly string[]): ReadonlyMap<string, Member> {
  const seed = new Map<string, Member>();
  for (const { labels, nets } of sets) {
    const pair = readOwner(labels, domains)?.pair;
    if (pair === undefined) continue;
    for (const net of nets) {
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

/** The address of a net that is one host; a Pod never had a wider one. */
function hostOf(net: string): string | undefined {
  const cidr = readNet(net);
  return cidr?.endsWith(cidr.includes(':') ? '/128' : '/32') === true
    ? cidr.slice(0, cidr.lastIndexOf('/'))
    : undefined;
}
