import { compareNames } from '@kube-semaphore/naming';
import { clusterOfSlice } from '../diff/slice-parts.ts';
import { type ClusterDiagnostic, problemOf } from '../diagnostic.ts';
import type { RoutingHints } from './routing-hints.ts';
import { type ClusterSlices, withoutStale } from '../merged/stale-endpoints.ts';
import type { DesiredSlice } from '../objects.ts';
import { memoize } from '@kube-semaphore/memoize';
import { inRole } from './in-role.ts';
import { type KnownClusters, levelsOf, unknownProperties } from './levels.ts';
import { type ClusterOrder, EVERYWHERE, LOCAL_FIRST, type MinReady } from './order.ts';
import { type Member, type Role, type Roles, type RolesInput, rolesOf } from './who-answers.ts';

/** What decides about the order of clusters besides the sources of a Service. */
export type RoutingContext = KnownClusters &
  Pick<RolesInput, 'down' | 'nowMs'> & {
    /** By the config, which overrules the deciding Service. */
    readonly order: ClusterOrder | undefined;
    /** Whether each Node of the local cluster is in a zone that hints name. Others use all endpoints that are ready. */
    readonly hasAllZones: boolean;
    /** Clusters whose endpoints an operator wants to be used last. Default: none. */
    readonly drained?: ReadonlySet<string>;
  };

/** What the next decision about a Service needs of this one. */
export type RoutingState = Pick<Roles, 'down' | 'dueMs' | 'levels'>;

export type RouteInput = {
  /** Of the Service. */
  readonly key: string;
  /** Undefined: the Service has none. */
  readonly order: ClusterOrder | undefined;
  readonly minReady: MinReady | undefined;
  readonly isHeadless: boolean;
  /** Undefined: its endpoints keep theirs. */
  readonly hints: RoutingHints | undefined;
  /** The known clusters with a part in the Service. Their slices have the conditions that they say. */
  readonly known: readonly ClusterSlices[];
  /** The others, and their slices as far as these are known. */
  readonly retained: { readonly clusters: readonly string[]; readonly slices: readonly DesiredSlice[] };
  readonly context: RoutingContext;
};

export type Routed = {
  /** Of all clusters that answer, by name. */
  readonly slices: readonly DesiredSlice[];
  readonly diagnostics: readonly ClusterDiagnostic[];
  /** Undefined without an order of clusters. */
  readonly state: RoutingState | undefined;
  /**
   * What becomes of a slice of a known cluster that isn't stale; empty if the order doesn't name it. Undefined with `minReady`: each
   * endpoint counts for the roles of all clusters.
   */
  readonly routed: ((slice: DesiredSlice) => readonly DesiredSlice[]) | undefined;
};

type Part = { readonly cluster: string; readonly isStale: boolean };

/** The slices of a Service: without those that others replace, and in an order of clusters with the role of each one. */
export function routedSlices(input: RouteInput): Routed {
  const { known, retained, context } = input;
  const parts: readonly Part[] = [
    ...known.map(({ cluster, stale }) => ({ cluster, isStale: stale !== 'no' })),
    ...retained.clusters.map((cluster) => ({ cluster, isStale: false })),
  ];
  const clusters = parts.map(({ cluster }) => cluster);
  const order = input.order ?? implicitOrder(clusters, input);
  const levels = order && levelsOf(order, clusters, context);
  const fresh = withoutStale(known.filter(({ cluster }) => levels?.has(cluster) !== false));
  const slices = sorted(retained.slices, fresh.slices);
  if (order === undefined || levels === undefined)
    return { slices, diagnostics: fresh.diagnostics, state: undefined, routed: (slice) => [slice] };
  const { diagnostics, ...routed } = inOrder(slices, { ...input, order, parts, levels });
  return { ...routed, diagnostics: [...fresh.diagnostics, ...diagnostics] };
}

type Ordered = RouteInput & {
  readonly order: ClusterOrder;
  readonly parts: readonly Part[];
  readonly levels: ReadonlyMap<string, number>;
};

function inOrder(all: readonly DesiredSlice[], input: Ordered): Routed {
  const { order, minReady, isHeadless, hints, parts, levels, context } = input;
  const slices = all.filter((slice) => levels.has(clusterOfSlice(slice)));
  const byCluster = Map.groupBy(slices, clusterOfSlice);
  const members = parts.flatMap(({ cluster, isStale }): Member[] => {
    const level = levels.get(cluster);
    if (level === undefined) return [];
    const state = isStale ? 'stale' : isDrained(cluster, context) ? 'drained' : 'active';
    return [{ cluster, level, state, slices: byCluster.get(cluster) ?? [] }];
  });
  const hasSecond = !isHeadless && hints !== undefined && context.hasAllZones;
  const { roles, ...state } = rolesOf({ ...context, order, members, minReady, hasSecond });
  const routed = routedBy(roles, hints);
  return {
    slices: slices.flatMap(routed),
    diagnostics: [
      ...orderProblems(input),
      ...parts.filter(({ cluster }) => !levels.has(cluster)).map(notInOrder),
      ...members.flatMap((member) => standbyDiagnostic(member, roles.get(member.cluster)!)),
    ],
    state,
    routed: minReady === undefined ? routed : undefined,
  };
}

/** @param roles of the clusters that the order names */
const routedBy = (roles: Roles['roles'], hints: RoutingHints | undefined) => (slice: DesiredSlice) => {
  const role = roles.get(clusterOfSlice(slice));
  return role === undefined ? [] : [withRole(slice, role, hints?.local, hints?.remote)];
};

/** The same slice while its role and the hints are the same: those of all clusters decide about the roles. */
const withRole = memoize(
  (
    slice: DesiredSlice,
    role: Role,
    local: RoutingHints['local'] | undefined,
    remote: RoutingHints['remote'] | undefined,
  ) => inRole(slice, role, local && remote && { local, remote }),
);

/** The order of a Service that has none: only if one of its clusters is drained, as it is the same as none otherwise. */
function implicitOrder(
  clusters: readonly string[],
  { isHeadless, hints, context }: RouteInput,
): ClusterOrder | undefined {
  if (!clusters.some((cluster) => isDrained(cluster, context))) return undefined;
  return hints !== undefined && !isHeadless && context.hasAllZones ? LOCAL_FIRST : EVERYWHERE;
}

const isDrained = (cluster: string, { drained }: RoutingContext): boolean => drained?.has(cluster) === true;

const byName = memoize((slices: readonly DesiredSlice[]) => slices.toSorted(compareNames));

/** By name. A relabelled slice may occur twice: then the known cluster's one counts. */
function sorted(retained: readonly DesiredSlice[], added: readonly DesiredSlice[]): readonly DesiredSlice[] {
  if (retained.length === 0) return byName(added);
  const names = new Set(added.map(({ name }) => name));
  const others = retained.filter(({ name }) => !names.has(name));
  return byName([...others, ...added]);
}

function orderProblems({ key, order, levels, context }: Ordered): readonly ClusterDiagnostic[] {
  const unknown = unknownProperties(order, context).map((property) =>
    problemOf(key, 'unknown-property', `its cluster order names the property ${property}, which no cluster has`),
  );
  const detail = 'its cluster order names no cluster that has the Service: it has no endpoints';
  return levels.size > 0 ? unknown : [...unknown, problemOf(key, 'order-unmatched', detail)];
}

const notInOrder = ({ cluster }: Part): ClusterDiagnostic => ({
  cluster,
  kind: 'expected',
  reason: 'not-in-order',
  detail: 'the cluster order does not name it: it gets no traffic',
});

/** Why a cluster has no role but the last one. That of a stale one is in its own diagnostic. */
function standbyDiagnostic({ cluster, state, slices }: Member, role: Role): readonly ClusterDiagnostic[] {
  if (role !== 'standby' || state === 'stale' || slices.length === 0) return [];
  const why = state === 'drained' ? 'it is drained' : 'the cluster order prefers others';
  const detail = `its endpoints are used only if no other is ready: ${why}`;
  return [{ cluster, kind: 'expected', reason: 'standby', detail }];
}
