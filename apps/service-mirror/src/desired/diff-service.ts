import { isDeepStrictEqual } from 'node:util';
import type { DesiredService } from './objects.ts';
import { familySpec, meetsFamilies } from './families.ts';
import type { ObservedService } from './observed.ts';

/** What to do about a local Service. */
export type ServiceChange =
  | { readonly kind: 'create-service'; readonly to: DesiredService }
  | { readonly kind: 'update-service'; readonly from: ObservedService; readonly to: DesiredService }
  /**
   * It turns headless, or ceases to be: `clusterIP` is immutable, so it is deleted without its slices, and created as
   * soon as it is gone.
   */
  | { readonly kind: 'replace-service'; readonly from: ObservedService; readonly to: DesiredService }
  | { readonly kind: 'delete-service'; readonly from: ObservedService };

/**
 * How a local Service differs from what it should be.
 *
 * @param ownAnnotations keys that are ours alone: removed where they aren't desired
 * @returns undefined where nothing has to be written
 */
export function diffService(
  from: ObservedService | undefined,
  to: DesiredService | undefined,
  ownAnnotations: readonly string[],
): ServiceChange | undefined {
  if (to === undefined) return from === undefined ? undefined : { kind: 'delete-service', from };
  if (from === undefined) return { kind: 'create-service', to };
  if (from.definition.headless !== to.definition.headless) return { kind: 'replace-service', from, to };
  return isSame(from, to, ownAnnotations) ? undefined : { kind: 'update-service', from, to };
}

/** The annotations of a Service that is there when ours are as desired; what others put there stays. */
export function annotationsOf(
  from: ObservedService | undefined,
  to: DesiredService,
  ownAnnotations: readonly string[],
): Readonly<Record<string, string>> {
  const others = Object.entries(from?.annotations ?? {}).filter(([key]) => !ownAnnotations.includes(key));
  return { ...Object.fromEntries(others), ...to.annotations };
}

function isSame(from: ObservedService, to: DesiredService, ownAnnotations: readonly string[]): boolean {
  const { families, ...definition } = to.definition;
  const { families: observedFamilies, ...observed } = from.definition;
  return (
    from.isPlain &&
    Object.entries(to.labels).every(([key, value]) => from.labels[key] === value) &&
    isDeepStrictEqual(from.annotations, annotationsOf(from, to, ownAnnotations)) &&
    isDeepStrictEqual(byName(observed), byName(definition)) &&
    meetsFamilies(
      { families: observedFamilies, familyPolicy: from.familyPolicy },
      familySpec(families, observedFamilies),
    )
  );
}

/** Ports in one order, and their targets as the API server has them: it fills in the port itself. */
function byName<T extends Pick<DesiredService['definition'], 'ports'>>(definition: T): T {
  const ports = definition.ports.map((port) => ({ ...port, targetPort: port.targetPort ?? port.port }));
  return { ...definition, ports: ports.toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name))) };
}
