import { describe, expect, it } from 'vitest';
import { mirrorSlots, policySlots, wireguardSlots } from './slots.ts';
import type { Placed } from './turnover.ts';

const identity = ({ cluster, collection, object }: Placed): string =>
  `${cluster} ${collection} ${object.metadata.name}`;
const identities = (objects: readonly Placed[]): ReadonlySet<string> => new Set(objects.map(identity));

describe.each([
  { app: 'policy', slots: policySlots },
  { app: 'service-mirror', slots: mirrorSlots },
  { app: 'wireguard', slots: wireguardSlots },
])('the things of $app', ({ slots }) => {
  // The drains of a cluster are one object.
  const named = slots.filter((slot) => slot(1, 0)[0]!.object.kind !== 'ConfigMap');

  it('have names that no other has', () => {
    const all = named.flatMap((slot, index) => [...identities(slot(index, 0)), ...identities(slot(1000 + index, 0))]);
    expect(new Set(all).size).toBe(all.length);
  });

  it('change, and keep their names', () => {
    for (const slot of slots) {
      expect(identities(slot(7, 1))).toEqual(identities(slot(7, 0)));
      expect(slot(7, 1)).not.toEqual(slot(7, 0));
    }
  });

  it('come with their namespace first', () => {
    for (const slot of slots)
      for (const objects of Map.groupBy(slot(7, 0), ({ cluster }) => cluster).values()) {
        const at = objects.map(({ object }) => object.kind).lastIndexOf('Namespace');
        expect(at).toBeLessThanOrEqual(0);
      }
  });
});
