import { isDeepStrictEqual } from 'node:util';
import { compareText } from '@kube-semaphore/naming';
import type { DesiredService } from '../objects.ts';
import { familySpec, meetsFamilies } from '../families.ts';
import type { ObservedService } from '../observed.ts';
import { hasMarks } from './marks.ts';

/** How to change a local Service. */
export type ServiceChange =
  | { readonly kind: 'create-service'; readonly to: DesiredService }
  | { readonly kind: 'update-service'; readonly from: ObservedService; readonly to: DesiredService }
  /**
   * It becomes headless, or stops being headless, or its first family isn't used any more. As `clusterIP` is immutable, it is
   * deleted without its slices, and created when it is gone.
   */
  | { readonly kind: 'replace-service'; readonly from: ObservedService; readonly to: DesiredService }
  | { readonly kind: 'delete-service'; readonly from: ObservedService };

/** How a local Service differs from what it should be; undefined if it doesn't. */
export function diffService(
  from: ObservedService | undefined,
  to: DesiredService | undefined,
): ServiceChange | undefined {
  if (to === undefined) return from === undefined ? undefined : { kind: 'delete-service', from };
  if (from === undefined) return { kind: 'create-service', to };
  if (from.definition.headless !== to.definition.headless || isOfUnused(from, to))
    return { kind: 'replace-service', from, to };
  return isSame(from, to) ? undefined : { kind: 'update-service', from, to };
}

/** Names would have an address without endpoints. */
function isOfUnused({ definition: from }: ObservedService, { definition: to }: DesiredService): boolean {
  const [first] = from.families;
  return first !== undefined && to.unusedFamilies?.includes(first) === true && !to.families.includes(first);
}

function isSame(from: ObservedService, to: DesiredService): boolean {
  const { families, unusedFamilies: _unused, ...definition } = to.definition;
  const { families: observedFamilies, ...observed } = from.definition;
  return (
    from.isPlain &&
    hasMarks(from, to) &&
    isDeepStrictEqual(comparable(observed), comparable(definition)) &&
    meetsFamilies(
      { families: observedFamilies, familyPolicy: from.familyPolicy },
      familySpec(families, observedFamilies),
    )
  );
}

/** With ports sorted by name, and with the targets that the API server fills in. */
function comparable<T extends Pick<DesiredService['definition'], 'ports'>>(definition: T): T {
  const ports = definition.ports.map((port) => ({ ...port, targetPort: port.targetPort ?? port.port }));
  return { ...definition, ports: ports.toSorted((a, b) => compareText(a.name, b.name)) };
}
