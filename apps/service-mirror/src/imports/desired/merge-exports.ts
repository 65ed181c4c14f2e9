import type { ClusterDiagnostic } from '../../endpoints/desired/diagnostic.ts';
import { oldestFirst } from '../../endpoints/desired/merged/merge-definitions.ts';
import {
  type MergedPort,
  mergePorts,
  placePorts,
  type PortNames,
  portShare,
} from '../../endpoints/desired/merged/merge-ports.ts';
import type { StringMap } from '../../endpoints/desired/objects.ts';
import { type Conflict, conflictsBeside, conflictsOf } from './conflicts.ts';
import type { Export, ExportedDefinition } from './export.ts';

/** What all exports of one name are together. */
export type MergedExports = {
  readonly definition: ExportedDefinition;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  /** The import's names for the ports of each cluster. */
  readonly portNames: ReadonlyMap<string, PortNames>;
  readonly conflicts: readonly Conflict[];
  /** The cluster of the oldest export; undefined if it may be an unknown one. */
  readonly oldest: string | undefined;
  /** Ports that are skipped or renamed, by age of the exports. */
  readonly diagnostics: readonly ClusterDiagnostic[];
};

/** What a ServiceImport says that stays as it is. */
export type ExistingImport = Pick<MergedExports, 'definition' | 'labels' | 'annotations'> & Pick<Export, 'wish'>;

/**
 * Merges the exports of one namespace and name, by the rules of KEP-1645. The oldest ServiceExport decides, by creation and
 * then by the cluster's name. Ports and families of the others are added. The order of the exports doesn't matter, so
 * that all clusters come to the same result.
 *
 * @throws {RangeError} without exports
 */
export function mergeExports(exports: readonly Export[]): MergedExports {
  const byAge = oldestFirst(exports);
  const [oldest] = byAge;
  if (oldest === undefined) throw new RangeError('no exports to merge');
  const ports = mergePorts(byAge.map(portsOf));
  const families = [...new Set(byAge.flatMap(({ definition }) => definition.usedFamilies ?? definition.families))];
  const { usedFamilies: _ofOldest, ...definition } = oldest.definition;
  return {
    definition: {
      ...definition,
      families,
      ports: ports.map(({ port }) => ({ ...port, targetPort: undefined })),
    },
    labels: oldest.labels,
    annotations: oldest.annotations,
    ...placed(byAge, ports, portShare(byAge.length)),
    conflicts: conflictsOf(byAge),
    oldest: oldest.cluster,
  };
}

/** A ServiceImport that stays as it is, because an unknown cluster may have the oldest export, with the known exports. */
export function retainExports(existing: ExistingImport, exports: readonly Export[]): MergedExports {
  const byAge = oldestFirst(exports);
  const ports = existing.definition.ports.map((port) => ({ port, holder: 'the existing ServiceImport' }));
  return {
    ...existing,
    ...placed(byAge, ports),
    conflicts: conflictsBeside(existing.definition, byAge),
    oldest: undefined,
  };
}

function placed(
  byAge: readonly Export[],
  ports: readonly MergedPort[],
  share?: number,
): Pick<MergedExports, 'portNames' | 'diagnostics'> {
  const each = byAge.map((one) => ({ cluster: one.cluster, ...placePorts(portsOf(one), ports, share) }));
  return {
    portNames: new Map(each.map(({ cluster, names }) => [cluster, names])),
    diagnostics: each.flatMap(({ diagnostics }) => diagnostics),
  };
}

const portsOf = ({ cluster, definition }: Export) => ({ cluster, ports: definition.ports });
