import type { AppStatus, DrainStatus } from '../clusters/app-status.ts';
import { type AppPod, type ClusterReport, ownNames, readPods } from '../clusters/report.ts';
import { UsageError } from '../usage-error.ts';

/** What the Pods of semaphore-service-mirror in one cluster say of another one, which is to be drained. */
export type Mirror = {
  /** How the cluster is called by them. */
  readonly own: string;
  /** Those that have the other cluster. */
  readonly pods: readonly AppPod[];
  /** Where they read the drains, sorted. */
  readonly namespaces: readonly string[];
  readonly hasImports: boolean;
  /** The clusters that are drained there. */
  readonly drained: ReadonlySet<string>;
  /** That of the other cluster; undefined: it isn't drained. */
  readonly drain: DrainStatus | undefined;
};

/** @throws {Error} if they can't drain clusters; {UsageError} if they don't have that one */
export function mirrorOf(
  report: ClusterReport,
  { cluster, isDrain }: { readonly cluster: string; readonly isDrain: boolean },
): Mirror {
  const { cluster: context } = report;
  const all = readPods([report]).filter(({ pod }) => pod.app === 'semaphore-service-mirror');
  if (all.length === 0)
    throw new Error(`${context}: no Pod of semaphore-service-mirror reports its status: see semaphore status`);
  // A cluster that left the config may still be drained.
  const has = ({ status }: (typeof all)[number]): boolean =>
    namesIn(status).includes(cluster) || (!isDrain && drainIn(status, cluster) !== undefined);
  const mirrors = all.filter(has);
  const statuses = mirrors.map(({ status }) => status);
  const known = [...new Set(all.flatMap(({ status }) => namesIn(status)))].toSorted();
  if (mirrors.length === 0)
    throw new UsageError(
      `${context}: semaphore-service-mirror has no cluster "${cluster}": it has ${known.join(', ')}`,
    );
  if (statuses.some(({ drains }) => drains === undefined))
    throw new Error(`${context}: this version of semaphore-service-mirror can't drain clusters: upgrade it`);
  if (statuses.some(({ drains }) => drains === null))
    throw new Error(
      `${context}: semaphore-service-mirror has no global Services and no ServiceImports, or may not read the ConfigMap with ` +
        'the drains: apply its manifests',
    );
  return {
    own: statuses[0]!.config.name ?? context,
    pods: mirrors.map(({ pod }) => pod),
    namespaces: [...new Set(statuses.flatMap(({ config }) => config.mirrorNamespace ?? []))].toSorted(),
    hasImports: statuses.some(({ config }) => (config.mcs ?? null) !== null),
    drained: new Set(statuses.flatMap(({ drains }) => (drains ?? []).map((each) => each.cluster))),
    drain: statuses.flatMap((status) => drainIn(status, cluster) ?? [])[0],
  };
}

/** That of a cluster; undefined: it isn't drained. */
export const drainIn = ({ drains }: AppStatus, cluster: string): DrainStatus | undefined =>
  drains?.find((each) => each.cluster === cluster);

/** All clusters of the mesh, as far as the apps name them, sorted. */
export const meshOf = (reports: readonly ClusterReport[]): readonly string[] =>
  [
    ...new Set([
      ...reports.flatMap(ownNames),
      ...readPods(reports).flatMap(({ pod, status }) =>
        pod.app === 'semaphore-service-mirror' ? status.remotes.map(({ name }) => name) : [],
      ),
    ]),
  ].toSorted();

const namesIn = ({ config: { name }, remotes }: AppStatus): readonly string[] => [
  ...(name === undefined ? [] : [name]),
  ...remotes.map((remote) => remote.name),
];
