import type { Namespace, ServiceExport, ServiceImport } from '@kube-semaphore/kube-objects';
import { isAllowedNamespace, managedByLabel, sliceManager } from '@kube-semaphore/service-mirror/names';
import type { Read } from '../clusters/objects.ts';
import { type ClusterReport, ownNames } from '../clusters/report.ts';
import { mirrorPlan, namesOf, remoteOf, statusesOf } from '../explain/facts.ts';
import { lossOf } from '../explain/hops/services.ts';
import { APPLY_KINDS, type ServiceAt } from './service-exports.ts';

/** A cluster, as its apps call it. */
export type Side = {
  /** The context. */
  readonly cluster: string;
  readonly report: ClusterReport;
};

/** What a cluster has of an exported Service. */
export type Seen = Side & {
  /** Its own export; undefined: it wasn't read. */
  readonly serviceExport: Read<ServiceExport | undefined> | undefined;
  readonly serviceImport: Read<ServiceImport | undefined>;
  readonly namespace: Read<Namespace | undefined>;
  /** Whether it has the kinds of Multi-Cluster Services. */
  readonly hasKinds: Read<boolean>;
};

/** What a cluster made of an export. */
export type Outcome = {
  /** Nothing will change any more. */
  readonly isDone: boolean;
  /** A sentence each. */
  readonly problems: readonly string[];
};

/** Whether a cluster has imported a Service from these exporters. */
export function importOutcome(seen: Seen, at: ServiceAt, exporters: readonly Side[]): Outcome {
  const { serviceImport } = seen;
  const ofExport = seen.serviceExport === undefined ? [] : exportProblems(seen.serviceExport, at);
  const found = serviceImport.known ? serviceImport.value : undefined;
  if (found === undefined) return { isDone: false, problems: [...ofExport, whyMissing(seen, at, exporters)] };
  const { labels } = found.metadata;
  if (labels[managedByLabel] !== sliceManager)
    return {
      isDone: false,
      problems: [...ofExport, `the ServiceImport ${at.namespace}/${at.name} is another program's`],
    };
  const missing = exporters.filter((each) => !hasPart(found, ownNames(each.report)));
  const away = missing.map(({ cluster }) => `the import has nothing of ${cluster}: ${mirrorPlan(seen.cluster)}`);
  const ready = found.status.conditions.find(({ type }) => type === 'Ready');
  const unready = ready?.status === 'False' ? [`the import isn't ready: ${ready.message || ready.reason}`] : [];
  const hasConditions = seen.serviceExport === undefined || conditionsOf(seen.serviceExport).length > 0;
  return {
    isDone: missing.length === 0 && ready !== undefined && hasConditions,
    problems: [...ofExport, ...away, ...unready],
  };
}

/** Whether a cluster has nothing any more of those that no longer export a Service. */
export function removalOutcome({ cluster, serviceImport }: Seen, removed: readonly Side[]): Outcome {
  if (!serviceImport.known) return { isDone: false, problems: [serviceImport.why] };
  const left = removed.filter((each) => serviceImport.value && hasPart(serviceImport.value, namesOf(each)));
  return {
    isDone: left.length === 0,
    problems: left.map((each) => `the import still has endpoints of ${each.cluster}: ${mirrorPlan(cluster)}`),
  };
}

/** Whether one of these names is in the status of an import. True without a name: the cluster has none. */
const hasPart = ({ status }: ServiceImport, names: readonly string[]): boolean =>
  names.length === 0 || status.clusters.some(({ cluster }) => names.includes(cluster));

const conditionsOf = (own: Read<ServiceExport | undefined>) => (own.known && own.value?.status.conditions) || [];

/** What the conditions of an export say. */
function exportProblems(own: Read<ServiceExport | undefined>, { namespace, name }: ServiceAt): readonly string[] {
  if (!own.known) return [own.why];
  if (own.value === undefined) return [`the ServiceExport ${namespace}/${name} was removed`];
  const conditions = conditionsOf(own);
  if (conditions.length === 0) return ['no semaphore-service-mirror has checked the export'];
  const isWrong = ({ type, status }: (typeof conditions)[number]): boolean =>
    type === 'Conflict' ? status === 'True' : status === 'False' && ['Valid', 'Ready'].includes(type);
  return conditions.filter(isWrong).map(({ type, reason, message }) => `${type}: ${message || reason}`);
}

/** Why a cluster has no import. */
function whyMissing(seen: Seen, { namespace }: ServiceAt, exporters: readonly Side[]): string {
  const { cluster, report, serviceImport, hasKinds } = seen;
  if (!serviceImport.known) return serviceImport.why;
  if (hasKinds.known && !hasKinds.value) return `the cluster has no ServiceImports: ${APPLY_KINDS}`;
  if (seen.namespace.known && seen.namespace.value === undefined)
    return `no import: there is no namespace ${namespace}; create it`;
  if (report.failure !== undefined)
    return `no import, and its semaphore-service-mirror can't be asked: ${report.failure}`;
  const statuses = statusesOf(seen, 'semaphore-service-mirror');
  const [status] = statuses;
  if (status === undefined) return 'no import: no semaphore-service-mirror reports its status';
  const { mcs } = status.config;
  if (mcs === null) return 'no import: the config of semaphore-service-mirror has no section mcs';
  if (mcs !== undefined && !isAllowedNamespace(mcs, namespace))
    return `no import: mcs.namespaces of semaphore-service-mirror doesn't allow the namespace ${namespace}`;
  const losses = exporters.flatMap((each) => {
    if (each.cluster === cluster) return [];
    const remote = remoteOf(status, each);
    if (remote === undefined)
      return `the config of semaphore-service-mirror does not have ${namesOf(each).join(' or ')}`;
    return lossOf(remote) ?? [];
  });
  return losses.length > 0 ? `no import: ${losses.join('; ')}` : `no import: plan says why: ${mirrorPlan(cluster)}`;
}
