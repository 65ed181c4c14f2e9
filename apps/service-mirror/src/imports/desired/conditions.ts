import type { Condition } from '@kube-semaphore/kube-objects';
import { type Conflict, CONFLICT_REASONS } from './conflicts.ts';

/** A condition without its times, which the writer adds. */
export type DesiredCondition = Pick<Condition, 'type' | 'reason' | 'message'> & { readonly status: 'True' | 'False' };

/** What the local cluster's ServiceExport exports. */
export type OwnExport =
  | { readonly service: 'exported' | 'missing' | 'external-name' }
  /** Its Service is skipped, for what `detail` says. */
  | { readonly service: 'skipped'; readonly detail: string };

/** What an export's `Conflict` depends on besides the conflicts. */
export type ConflictContext = {
  /** The cluster of the oldest export, if it is known. */
  readonly oldest: string | undefined;
  /** Exporting clusters that are unknown now, sorted. */
  readonly unknown: readonly string[];
  /** The reasons that the export has now, for conflicts with unknown clusters: these can't end while they are unknown. */
  readonly present: readonly string[];
};

/** More than most sets have. The names of 20 clusters in 9 conflicts are at most 11,000 of 32,768 characters. */
const MOST_NAMES = 20;

/** The conditions of the local cluster's ServiceExport: `Valid`, `Ready` and `Conflict`. */
export function exportConditions(own: OwnExport, conflict: DesiredCondition): readonly DesiredCondition[] {
  return [validity(own), readiness(own), own.service === 'exported' ? conflict : NO_CONFLICTS];
}

/** Whether exports conflict: the same for all of them, with all reasons in the order of the API. */
export function conflictCondition(
  conflicts: readonly Conflict[],
  { oldest, unknown, present }: ConflictContext,
): DesiredCondition {
  const found = conflicts.map(({ reason }) => reason);
  const reasons = CONFLICT_REASONS.filter(
    (reason) => found.includes(reason) || (unknown.length > 0 && present.includes(reason)),
  );
  if (reasons.length === 0) return NO_CONFLICTS;
  const parts = [
    ...conflicts.map(({ field, clusters }) => `different ${field} in ${listed(clusters)}`),
    oldest === undefined ? undefined : `${oldest} has the oldest export, which decides`,
    unknown.length === 0 ? undefined : `conflicts stay while ${listed(unknown)} can't be read`,
  ];
  const message = parts.filter((part) => part !== undefined).join('; ');
  return { type: 'Conflict', status: 'True', reason: reasons.join(','), message };
}

/** The reasons of an export's conflict now; empty if it has none. */
export function conflictReasons(conditions: readonly Condition[]): readonly string[] {
  const conflict = conditions.find(({ type }) => type === 'Conflict');
  return conflict?.status === 'True' ? conflict.reason.split(',') : [];
}

/**
 * The conditions to write: the desired ones, and those that others set. A time changes with the status only.
 *
 * @param at RFC 3339, for conditions whose status changes
 * @returns undefined if nothing differs
 */
export function conditionChange(
  observed: readonly Condition[],
  desired: readonly DesiredCondition[],
  at: string,
): readonly Condition[] | undefined {
  const before = new Map(observed.map((condition) => [condition.type, condition]));
  const isSame = desired.every(({ type, status, reason, message }) => {
    const from = before.get(type);
    return from?.status === status && from.reason === reason && from.message === message;
  });
  if (isSame) return undefined;
  const own = new Set(desired.map(({ type }) => type));
  return [
    ...observed.filter(({ type }) => !own.has(type)),
    ...desired.map((condition): Condition => {
      const from = before.get(condition.type);
      const lastTransitionTime = from?.status === condition.status ? from.lastTransitionTime : at;
      return { ...condition, observedGeneration: undefined, lastTransitionTime };
    }),
  ];
}

/** The conditions without ours; undefined if none is ours: no other implementation has our messages. */
export function withoutOurs(conditions: readonly Condition[]): readonly Condition[] | undefined {
  const isOurs = conditions.some(
    ({ type, message }) => type === 'Ready' && Object.values(READINESS).some((start) => message.startsWith(start)),
  );
  return isOurs ? conditions.filter(({ type }) => !['Valid', 'Ready', 'Conflict'].includes(type)) : undefined;
}

const NO_CONFLICTS: DesiredCondition = { type: 'Conflict', status: 'False', reason: 'NoConflicts', message: '' };

function validity({ service }: OwnExport): DesiredCondition {
  const type = 'Valid';
  switch (service) {
    case 'missing':
      return { type, status: 'False', reason: 'NoService', message: 'there is no Service of this name' };
    case 'external-name':
      return {
        type,
        status: 'False',
        reason: 'InvalidServiceType',
        message: 'a Service of type ExternalName has no endpoints to export',
      };
    default:
      return { type, status: 'True', reason: 'Valid', message: '' };
  }
}

/** How the message of `Ready` begins. */
const READINESS = {
  // Each importer reads by itself: no cluster knows which have.
  True: 'other clusters can read the export',
  Failed: 'the Service is not exported: ',
  Pending: 'there is nothing to export',
} as const;

function readiness(own: OwnExport): DesiredCondition {
  const type = 'Ready';
  switch (own.service) {
    case 'exported':
      return { type, status: 'True', reason: 'Ready', message: READINESS.True };
    case 'skipped':
      return { type, status: 'False', reason: 'Failed', message: READINESS.Failed + own.detail };
    default:
      return { type, status: 'False', reason: 'Pending', message: READINESS.Pending };
  }
}

const listed = (clusters: readonly string[]): string =>
  clusters.length <= MOST_NAMES
    ? clusters.join(', ')
    : `${clusters.slice(0, MOST_NAMES).join(', ')} and ${clusters.length - MOST_NAMES} more`;
