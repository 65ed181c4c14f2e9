import type { Diagnostic } from '@kube-semaphore/multicluster';
import { withoutLongPortNames } from './port-names.ts';
import type { Family, Reading, SourceService } from './source.ts';

/** Where a Service is to be. */
export type Place = {
  readonly namespace: string;
  readonly name: string;
  /** That Services of the local cluster may have; undefined if unknown. */
  readonly families: readonly Family[] | undefined;
};

const NO_FAMILY: Diagnostic = {
  kind: 'problem',
  reason: 'family-not-supported',
  detail: 'Services of the local cluster can have none of its address families',
};

/** What of a source the local cluster can have; nothing, if that is no Service. */
export function localForm(source: SourceService, { families, ...local }: Place): Reading<SourceService> {
  const servable = withFamiliesOf(source, families);
  return servable === undefined ? { value: undefined, skipped: [NO_FAMILY] } : withoutLongPortNames(servable, local);
}

/** Its families that the cluster has come first, as it must have the first. A Service without addresses may have any. */
function withFamiliesOf(source: SourceService, here: Place['families']): SourceService | undefined {
  const { definition } = source;
  if (here === undefined || definition.headless) return source;
  const [own, others] = [true, false].map((isHere) =>
    definition.families.filter((family) => here.includes(family) === isHere),
  );
  return own!.length === 0 ? undefined : { ...source, definition: { ...definition, families: [...own!, ...others!] } };
}
