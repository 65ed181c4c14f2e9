import { globalServiceLabel, globalServiceName, mirrorClusterLabel, mirroredSliceLabel } from '../../../names.ts';
import { desiredGlobal, type Global, type GlobalInput, type GlobalParticipant } from './service.ts';
import type { Decision } from '../../../endpoints/desired/merged/decision.ts';
import { retainedForOthers, retainedOf } from '../../../endpoints/desired/merged/retained.ts';
import type { ClusterDiagnostic } from '../../../endpoints/desired/diagnostic.ts';
import { localForm, type Place } from '../../../endpoints/desired/local-form.ts';
import type { SourceService } from '../../../endpoints/desired/source.ts';
import type { LocalServices, ServiceView, Target } from '../../../endpoints/desired/target.ts';
import { memoize } from '@kube-semaphore/memoize';
import type { Stale } from '../../../endpoints/desired/merged/stale-endpoints.ts';

/** A cluster whose Service may have a part in a global one. */
export type GlobalSource = {
  readonly cluster: string;
  readonly isLocal: boolean;
  readonly stale: Stale;
  readonly source: ServiceView;
};

export type GlobalTargetInput = Pick<GlobalInput, 'hints' | 'zones' | 'routing'> & {
  readonly clusters: readonly GlobalSource[];
  readonly local: LocalServices;
  /** The namespace of all global Services. */
  readonly mirrorNamespace: string;
  readonly families: Place['families'];
  /** None of its sources was seen since the start, and the config says to retain such global Services if all are gone. */
  readonly retainsUnseen: boolean;
};

/** `decision`: undefined if a change of endpoints may change it. */
export type GlobalTarget = Target &
  Pick<Global, 'state'> & {
    readonly participants: readonly GlobalParticipant[];
    readonly decision: Decision<GlobalParticipant> | undefined;
  };

/** What the key of a global Service wants now. */
export function globalTarget(
  { namespace, name }: { namespace: string; name: string },
  input: GlobalTargetInput,
): GlobalTarget {
  const { clusters, local, mirrorNamespace, families, retainsUnseen, hints, zones, routing } = input;
  const localName = globalServiceName(namespace, name);
  const skippedParts: ClusterDiagnostic[] = [];
  const participants: GlobalParticipant[] = [];
  const parts: GlobalParticipant[] = [];
  for (const each of clusters) {
    if (each.source.service === undefined) continue;
    const { participant, skipped } = partOf(each, mirrorNamespace, localName, families);
    skippedParts.push(...skipped);
    if (participant === undefined) continue;
    participants.push(participant);
    if (each.source.known && skipped.length === 0) parts.push(participant);
  }
  const unknown = clusters.filter(({ source }) => !source.known);
  const observed = { service: local.service(localName), slices: local.slices(localName) };
  const ofUnknown = retainedOf(observed, unknown);
  const isGone = participants.length === 0 && ofUnknown.clusters.length === 0;
  const retained = isGone ? retainedForOthers(observed, new Set(clusters.map(({ cluster }) => cluster))) : ofUnknown;
  const { wanted, diagnostics, state, slicesOf } = desiredGlobal({
    namespace,
    name,
    participants,
    retained,
    hints,
    zones,
    routing,
  });
  return {
    name: localName,
    // Another process may own slices of other clusters.
    isOurs: (labels) =>
      labels[globalServiceLabel] === 'true' ||
      (labels[mirroredSliceLabel] === 'true' && clusters.some(({ cluster }) => cluster === labels[mirrorClusterLabel])),
    wanted,
    retainsUnseen: retainsUnseen && isGone,
    // For global Services, the Go programs wrote slices.
    retainsEndpoints: false,
    diagnostics: [...skippedParts, ...diagnostics],
    state,
    participants,
    decision: slicesOf && { parts, slicesOf },
  };
}

/** A cluster's part in a global Service; undefined if it isn't known, has none, or something is skipped of it. */
export function undisputedPart(
  source: GlobalSource,
  { namespace, name, families }: Place,
): GlobalParticipant | undefined {
  if (!source.source.known || source.source.service === undefined) return undefined;
  const { participant, skipped } = partOf(source, namespace, name, families);
  return skipped.length === 0 ? participant : undefined;
}

type Part = { readonly participant: GlobalParticipant | undefined; readonly skipped: readonly ClusterDiagnostic[] };

/** A cluster's part in a global Service, which it has. */
const partOf = memoize(
  ({ source, ...cluster }: GlobalSource, namespace: string, name: string, families: Place['families']): Part => {
    const { value: service, skipped } = formOf(source.service!, namespace, name, families);
    return {
      participant: service && { ...cluster, service, slices: source.slices },
      skipped: [...skipped, ...source.skipped].map((each) => ({ cluster: cluster.cluster, ...each })),
    };
  },
);

/** The same definition while only endpoints change, so that it is merged once. */
const formOf = memoize((source: SourceService, namespace: string, name: string, families: Place['families']) =>
  localForm(source, { namespace, name, families }),
);
