import type { EndpointSlice, ServiceImport } from '@kube-semaphore/kube-objects';
import {
  derivedServiceNames,
  importClusterLabel,
  importNameLabel,
  mirrorClusterLabel,
  mirroredServiceLabel,
  mirroredSliceLabel,
  serviceNameLabel,
  standbyAnnotation,
} from '@kube-semaphore/service-mirror/names';
import { sourcesOf } from '../clusters/app-status.ts';
import { type ClusterReport, readPods } from '../clusters/report.ts';
import {
  type Graph,
  graphOf,
  importedBy,
  type Mirrored,
  mirroredBy,
  nameOf,
  type ReadCluster,
} from '../graph/graph.ts';
import { problemsIn } from '../status/page.ts';
import { type Pair, pairsOf } from '../status/pairs.ts';

/** What was read of a cluster, and why some of it wasn't. */
export type MeshCluster = ReadCluster & {
  /** Of mirrors, global Services and imports. */
  readonly slices: readonly EndpointSlice[];
  readonly failures: readonly string[];
};

/** A mirror, a global Service or an import, and how many ready endpoints and standbys it has of each cluster. */
export type ServiceRow = Omit<Mirrored, 'sources'> & {
  readonly endpoints: readonly { readonly cluster: string; readonly ready: number; readonly standby: number }[];
};

/** Objects of a remote that an app skips. */
export type SkippedRow = {
  readonly cluster: string;
  readonly app: string;
  readonly remote: string;
  readonly kind: 'expected' | 'problem';
  readonly reason: string;
  readonly count: number;
};

/** All that the page shows, besides the checks. */
export type Mesh = {
  /** RFC 3339. */
  readonly readAt: string;
  readonly reports: readonly ClusterReport[];
  readonly problems: readonly string[];
  readonly pairs: readonly Pair[];
  readonly graph: Graph;
  readonly services: readonly ServiceRow[];
  readonly skipped: readonly SkippedRow[];
};

export function meshOf(clusters: readonly MeshCluster[], readAt: string): Mesh {
  const reports = clusters.map(({ report }) => report);
  const failures = [...problemsIn(reports), ...clusters.flatMap((each) => each.failures)];
  return {
    readAt,
    reports,
    problems: [...new Set(failures)],
    pairs: pairsOf(reports),
    graph: graphOf(clusters),
    services: clusters.flatMap(servicesIn).toSorted((a, b) => compare(nameIn(a), nameIn(b))),
    skipped: skippedIn(reports),
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const nameIn = ({ service, cluster }: ServiceRow): string => `${service} ${cluster}`;

function servicesIn({ report, services, imports, slices }: MeshCluster): readonly ServiceRow[] {
  const byService = Map.groupBy(
    slices,
    ({ metadata: { namespace, labels } }) => `${namespace}/${labels[serviceNameLabel]}`,
  );
  const byImport = Map.groupBy(slices, ({ metadata: { labels } }) => labels[importNameLabel]);
  return [
    ...services.flatMap((object) => {
      const { namespace, name } = object.metadata;
      return rowOf(mirroredBy(report, object), byService.get(`${namespace}/${name}`));
    }),
    ...imports.flatMap((object) => {
      const own = byImport.get(object.metadata.name)?.filter((slice) => isOfImport(slice, object));
      return rowOf(importedBy(report, object), own);
    }),
  ];
}

function rowOf(mirrored: Mirrored | undefined, slices: readonly EndpointSlice[] = []): readonly ServiceRow[] {
  if (mirrored === undefined) return [];
  const { sources, ...row } = mirrored;
  const endpoints = sources.map((cluster) => {
    const own = slices.filter((slice) => isOf(slice, cluster));
    const standbys = own.filter(({ metadata }) => metadata.annotations[standbyAnnotation] === 'true');
    return { cluster, ready: sumOf(own, readyIn), standby: sumOf(standbys, servingIn) };
  });
  return [{ ...row, endpoints }];
}

/** The slices of a mirror are all of its one source. */
const isOf = ({ metadata: { labels } }: EndpointSlice, cluster: string): boolean =>
  labels[mirroredServiceLabel] === 'true' || [labels[mirrorClusterLabel], labels[importClusterLabel]].includes(cluster);

/** Slices are where the import's Service is: beside it, or in the mirror namespace. */
const isOfImport = ({ metadata }: EndpointSlice, { metadata: { namespace, name }, status }: ServiceImport): boolean =>
  status.endpointSliceObjects === 'Absent'
    ? derivedServiceNames({ namespace, name }, { isBeside: false }).includes(metadata.labels[serviceNameLabel] ?? '')
    : metadata.namespace === namespace;

/** Which slices `Mesh` is made of. */
export const sliceSelectors = [
  `${mirroredServiceLabel}=true`,
  `${mirroredSliceLabel}=true`,
  importClusterLabel,
] as const;

/** An unset condition means ready. */
const readyIn = ({ endpoints }: EndpointSlice): number =>
  endpoints.filter(({ conditions }) => conditions.ready !== false).length;

/** Those that aren't ready, of a slice of standbys. */
const servingIn = ({ endpoints }: EndpointSlice): number =>
  endpoints.filter(({ conditions: { ready, serving } }) => ready === false && serving !== false).length;

const sumOf = (slices: readonly EndpointSlice[], count: (slice: EndpointSlice) => number): number =>
  slices.reduce((sum, slice) => sum + count(slice), 0);

/** What replicas and the nodes of a cluster say is about the same objects. */
function skippedIn(reports: readonly ClusterReport[]): readonly SkippedRow[] {
  const rows = readPods(reports).flatMap(({ cluster, pod, status }) =>
    sourcesOf(status).flatMap(({ name, skipped }) =>
      skipped.map((each): SkippedRow => ({ cluster, app: pod.app, remote: name, ...each })),
    ),
  );
  const groups = Map.groupBy(rows, ({ cluster, app, remote, kind, reason }) =>
    JSON.stringify([cluster, app, remote, kind, reason]),
  );
  return [...groups.values()].map((same) => same.reduce((most, row) => (row.count > most.count ? row : most)));
}

/** Clusters that can't be read, or that an app of another one doesn't reach, by the names that the graph has for them. */
export const troubledIn = ({ reports, pairs }: Pick<Mesh, 'reports' | 'pairs'>): ReadonlySet<string> =>
  new Set([
    ...reports.flatMap((report) => (report.pods.length === 0 ? [nameOf(report)] : [])),
    ...pairs.flatMap(({ to, apps }) => (Object.values(apps).some(({ state }) => state !== 'up') ? [to] : [])),
  ]);

/** Whether a remote isn't reached by an app, or a tunnel is without a recent handshake. */
export const isTroubled = ({ apps, tunnels }: Pair): boolean =>
  Object.values(apps).some(({ state }) => state !== 'up') || (tunnels !== null && tunnels.up < tunnels.all);
