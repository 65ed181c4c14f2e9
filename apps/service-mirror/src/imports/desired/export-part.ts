import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { ClusterDiagnostic } from '../../endpoints/desired/diagnostic.ts';
import { gatedSlices } from '../../endpoints/desired/gating.ts';
import { memoize } from '@kube-semaphore/memoize';
import type { Reading, SourceSlice } from '../../endpoints/desired/source.ts';
import type { OwnExport } from './conditions.ts';
import type { Export, ExportedDefinition } from './export.ts';
import type { Exporter } from './import.ts';

/** A cluster's part in an import. */
export type ExportPart = {
  readonly exporter: Exporter | undefined;
  readonly diagnostics: readonly ClusterDiagnostic[];
};

/** What a cluster has of one export. */
export type ExportPartInput = Pick<Exporter, 'cluster' | 'isLocal' | 'stale'> & {
  readonly exported: Omit<Export, 'cluster' | 'definition'>;
  /** The limit of exports that keeps this one waiting; undefined if it doesn't wait. */
  readonly overLimit: number | undefined;
  readonly service: Pick<Export, 'wish'> & {
    readonly own: OwnExport;
    readonly definition: ExportedDefinition | undefined;
    readonly skipped?: readonly Diagnostic[];
  };
  /** Those of the Service, with what is skipped of them. */
  readonly slices: readonly Reading<SourceSlice>[];
};

export const NO_PART: ExportPart = { exporter: undefined, diagnostics: [] };

/** A known cluster's part in an import, or why it has none. */
export function exportPart({
  exported,
  cluster,
  isLocal,
  stale,
  overLimit,
  service: { own, definition, wish, skipped: ofService = [] },
  slices,
}: ExportPartInput): ExportPart {
  const withoutPart = (diagnostic: Diagnostic): ExportPart => ({
    exporter: undefined,
    diagnostics: [{ cluster, ...diagnostic }],
  });
  if (overLimit !== undefined)
    return withoutPart({
      kind: 'problem',
      reason: 'over-budget',
      detail: `the remote has reached its limit of ${overLimit} exports (-max-remote-services)`,
    });
  if (definition === undefined) return withoutPart(whyNot(own));
  return {
    exporter: {
      ...exported,
      wish: exported.wish ?? wish,
      cluster,
      definition,
      isLocal,
      stale,
      slices: slices.flatMap(({ value }) => value ?? []),
    },
    diagnostics: [...ofService, ...slices.flatMap(({ skipped }) => skipped)].map((each) => ({ cluster, ...each })),
  };
}

/** A cluster's part in an import, with the endpoints on silent Nodes used last. */
export function gatedPart(part: ExportPart, silent: ReadonlySet<string>): ExportPart {
  return silent.size === 0 || part.exporter === undefined ? part : gatedOnce(part, silent);
}

const gatedOnce = memoize(({ exporter, diagnostics }: ExportPart, silent: ReadonlySet<string>): ExportPart => ({
  exporter: exporter && { ...exporter, slices: gatedSlices(exporter.slices, silent, exporter.definition.headless) },
  diagnostics,
}));

/** A cluster's part in an import that may not be made. */
export function forbiddenPart({ exporter, diagnostics }: ExportPart, cluster: string, namespace: string): ExportPart {
  if (exporter === undefined && diagnostics.length === 0) return NO_PART;
  const detail = forbiddenNamespace(namespace);
  return { exporter: undefined, diagnostics: [{ cluster, kind: 'expected', reason: 'namespace-not-allowed', detail }] };
}

export const forbiddenNamespace = (namespace: string): string =>
  `mcs.namespaces doesn't allow the namespace ${namespace}`;

/** Why the Service of an export can't be imported. */
function whyNot(own: OwnExport): Diagnostic {
  if (own.service === 'skipped') return { kind: 'problem', reason: 'export-skipped', detail: own.detail };
  if (own.service === 'external-name')
    return { kind: 'expected', reason: 'external-name', detail: 'the exported Service is of type ExternalName' };
  return { kind: 'expected', reason: 'export-skipped', detail: 'the exported Service does not exist' };
}
