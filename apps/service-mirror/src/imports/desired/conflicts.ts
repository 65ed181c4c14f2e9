import { isDeepStrictEqual } from 'node:util';
import type { ServicePort } from '../../endpoints/desired/source.ts';
import type { Export } from './export.ts';

/** A field that exports of one name have different values for. */
export type Conflict = {
  /** The reason of the condition. */
  readonly reason: string;
  /** The field, as users call it. */
  readonly field: string;
  /** The clusters whose export differs from the oldest, by age. */
  readonly clusters: readonly string[];
};

type Field = Pick<Conflict, 'reason' | 'field'> & {
  /** Comparable by value. */
  readonly of: (each: Export) => unknown;
};

/** In the order of the API (`pkg/apis/v1beta1/serviceexport.go`), which is also that of a condition's reasons. */
const FIELDS: readonly Field[] = [
  { reason: 'PortConflict', field: 'ports', of: ({ definition }) => definition.ports.map(portText).toSorted() },
  { reason: 'TypeConflict', field: 'type', of: ({ definition }) => definition.headless },
  {
    reason: 'SessionAffinityConflict',
    field: 'sessionAffinity',
    of: ({ definition }) => definition.affinitySeconds === undefined,
  },
  {
    reason: 'SessionAffinityConfigConflict',
    field: 'sessionAffinityConfig',
    of: ({ definition }) => definition.affinitySeconds,
  },
  { reason: 'AnnotationsConflict', field: 'exportedAnnotations', of: ({ annotations }) => annotations },
  { reason: 'LabelsConflict', field: 'exportedLabels', of: ({ labels }) => labels },
  {
    reason: 'InternalTrafficPolicyConflict',
    field: 'internalTrafficPolicy',
    of: ({ definition }) => definition.internalTrafficPolicy,
  },
  {
    reason: 'TrafficDistributionConflict',
    field: 'trafficDistribution',
    of: ({ definition }) => definition.trafficDistribution,
  },
  // The order doesn't matter: each cluster has its own primary family.
  { reason: 'IPFamilyConflict', field: 'ipFamilies', of: ({ definition }) => definition.families.toSorted() },
];

/** All reasons, in the order in which a condition joins them. */
export const CONFLICT_REASONS: readonly string[] = FIELDS.map(({ reason }) => reason);

/** The reasons that compare what a ServiceImport shows of its exports: a filter or the cluster may change the others. */
const COPIED: readonly string[] = CONFLICT_REASONS.filter(
  (reason) => !['AnnotationsConflict', 'LabelsConflict', 'IPFamilyConflict'].includes(reason),
);

/**
 * Where exports differ, in the order of the reasons. Any difference counts, also a harmless one, such as another port.
 *
 * @param exports the oldest first
 */
export function conflictsOf([oldest, ...others]: readonly Export[]): readonly Conflict[] {
  return oldest === undefined ? [] : FIELDS.flatMap((field) => conflictIn(field, oldest, others));
}

/** Where exports differ from each other, or from a ServiceImport that stays as it is. */
export function conflictsBeside(existing: Export['definition'], exports: readonly Export[]): readonly Conflict[] {
  const asExport: Export = { cluster: '', createdAt: 0, definition: existing, labels: {}, annotations: {} };
  const among = conflictsOf(exports);
  return FIELDS.flatMap((field) => {
    const beside = COPIED.includes(field.reason) ? conflictIn(field, asExport, exports) : [];
    return beside.length > 0 ? beside : among.filter(({ reason }) => reason === field.reason);
  });
}

function conflictIn({ reason, field, of }: Field, oldest: Export, others: readonly Export[]): readonly Conflict[] {
  const value = of(oldest);
  const clusters = others.filter((each) => !isDeepStrictEqual(of(each), value)).map(({ cluster }) => cluster);
  return clusters.length === 0 ? [] : [{ reason, field, clusters }];
}

/** Without the target, which only the exporting cluster needs. */
const portText = ({ name, protocol, port, appProtocol = '' }: ServicePort): string =>
  `${protocol} ${port} ${name} ${appProtocol}`;
