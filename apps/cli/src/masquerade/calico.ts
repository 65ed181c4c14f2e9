import type { Read } from '../clusters/objects.ts';
import { type Masquerader, rangesIn } from './masquerader.ts';
import type { MasqueradeObjects } from './objects.ts';

/** Calico masquerades packets of Pods in a pool with `natOutgoing` to addresses outside all pools. */
export function calico({ pools }: MasqueradeObjects): readonly Read<Masquerader>[] {
  if (!pools.known) return [pools];
  const masqueraded = pools.value.filter(({ natOutgoing }) => natOutgoing === true);
  if (masqueraded.length === 0) return [];
  const value: Masquerader = {
    name: 'Calico',
    object: undefined,
    reason: 'no IPPool has it',
    spares: rangesIn(pools.value.map(({ cidr }) => cidr)),
    pods: rangesIn(masqueraded.map(({ cidr }) => cidr)),
    check: 'pools-disabled',
  };
  return [{ known: true, value }];
}
