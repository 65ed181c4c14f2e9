import type { Read } from '../clusters/objects.ts';
import { ALL, type Masquerader, objectText, rangesIn } from './masquerader.ts';
import { containersOf, type MasqueradeObjects } from './objects.ts';

/**
 * kindnetd masquerades all packets to addresses outside POD_SUBNET, a list, in each family that the list has (kind:
 * images/kindnetd/cmd/kindnetd/main.go, masq.go `SyncRules`). Without it, it doesn't start.
 */
export function kindnet({ cluster, daemonSets }: MasqueradeObjects): readonly Read<Masquerader>[] {
  if (!daemonSets.known) return [daemonSets];
  const found = daemonSets.value.filter(({ metadata }) => metadata.name === 'kindnet');
  return found.map((daemonSet): Read<Masquerader> => {
    const object = { kind: 'DaemonSet', ...daemonSet.metadata } as const;
    const text = containersOf(daemonSet)
      .flatMap(({ env }) => env)
      .find(({ name }) => name === 'POD_SUBNET')?.value;
    if (!text) return { known: false, why: `${cluster}: ${objectText(object)} has no POD_SUBNET, as that of kind has` };
    const subnets = rangesIn(text.split(','));
    const others = ([4, 6] as const).filter((family) => subnets.every((subnet) => subnet.family !== family));
    const spares = [...subnets, ...others.map((family) => ALL[family])];
    const reason = `POD_SUBNET of ${objectText(object)} doesn't have it`;
    return { known: true, value: { name: 'kindnet', object, reason, spares, check: 'sources-kept' } };
  });
}
