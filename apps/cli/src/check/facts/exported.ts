import { podWithPortsKind, type Service, serviceExportKind, serviceKind } from '@kube-semaphore/kube-objects';
import type { Context } from '../../clusters/contexts.ts';
import { selects } from '@kube-semaphore/network-policies';
import { listObjects, mapRead, type Read, type Run } from '../../clusters/objects.ts';
import { type ClusterReport, readPods } from '../../clusters/report.ts';
import { portsIn } from '../../explain/hops/ports.ts';
import { some } from '../../output/some.ts';

type Pod = { readonly labels: Readonly<Record<string, string>>; readonly ports: ReturnType<typeof portsIn> };

/** The Services of a cluster that other clusters copy, and the Pods of their namespaces. */
export type Exported = {
  readonly services: readonly Pick<Service, 'metadata' | 'spec'>[];
  /** By namespace, without finished ones. */
  readonly pods: ReadonlyMap<string, readonly Pod[]>;
  /** Whether all of these Pods were read. */
  readonly isComplete: boolean;
};

/** Each has at most 500 Pods. */
const MAX_REQUESTS = 40;

/** Of more, the Pods of the whole cluster are fewer requests. */
const MAX_NAMESPACES = 10;

/**
 * Reads them: a request for each 500 Services, by label, and up to 40 for Pods.
 *
 * @param groups that the cluster serves
 * @returns undefined if no semaphore-service-mirror says what it copies
 */
export async function readExported(
  context: Context,
  { report, groups }: { readonly report: ClusterReport; readonly groups: ReadonlySet<string> },
  run: Run,
): Promise<Read<Exported | undefined>> {
  const configs = readPods([report]).map(({ status }) => status.config);
  const selectors = new Set(
    configs.flatMap(({ mirrorSelector, globalSelector }) => [mirrorSelector ?? [], globalSelector ?? []].flat()),
  );
  const hasExports = configs.some(({ mcs }) => mcs != null) && groups.has(serviceExportKind.group);
  if (selectors.size === 0 && !hasExports) return { known: true, value: undefined };
  const lists = await Promise.all([
    ...Array.from(selectors, (labelSelector) => listObjects(context, serviceKind, { labelSelector }, run)),
    ...(hasExports ? [readExports(context, run)] : []),
  ]);
  const found = new Map<string, Service>();
  for (const list of lists) {
    if (!list.known) return list;
    for (const service of list.value) found.set(nameOf(service), service);
  }
  const services = [...found.values()].filter(({ spec }) => Object.keys(spec.selector).length > 0);
  return mapRead(await readSelectable(context, services, run), (pods) => ({ services, ...pods }));
}

const nameOf = ({ metadata: { namespace, name } }: Pick<Service, 'metadata'>): string => `${namespace}/${name}`;

/** The Services with a ServiceExport, which may have any labels. */
async function readExports(context: Context, run: Run): Promise<Read<readonly Service[]>> {
  const exports = await listObjects(context, serviceExportKind, {}, run);
  if (!exports.known || exports.value.length === 0) return mapRead(exports, () => []);
  const names = new Set(exports.value.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`));
  const services = await listObjects(context, serviceKind, {}, run);
  return mapRead(services, (all) => all.filter((service) => names.has(nameOf(service))));
}

/** The Pods of the namespaces of Services. */
async function readSelectable(
  context: Context,
  services: readonly Service[],
  run: Run,
): Promise<Read<Pick<Exported, 'pods' | 'isComplete'>>> {
  const namespaces = new Set(services.map(({ metadata }) => metadata.namespace).toSorted());
  const budget = { requests: MAX_REQUESTS, isSpent: false };
  const pods = new Map<string, Pod[]>();
  for (const namespace of namespaces.size > MAX_NAMESPACES ? [undefined] : namespaces) {
    const list = await listObjects(context, podWithPortsKind, { namespace, budget }, run);
    if (!list.known) return list;
    for (const { metadata, spec, status } of list.value) {
      if (!namespaces.has(metadata.namespace) || ['Succeeded', 'Failed'].includes(status.phase)) continue;
      const own = pods.get(metadata.namespace) ?? [];
      pods.set(metadata.namespace, own);
      own.push({ labels: metadata.labels, ports: portsIn({ spec }) });
    }
  }
  return { known: true, value: { pods, isComplete: !budget.isSpent } };
}

/** Services that select no Pod, and those with a port that no container of their Pods declares, as text. */
export function deadEnds({
  services,
  pods,
  isComplete,
}: Exported): Readonly<Record<'podless' | 'portless', readonly string[]>> {
  const indexes = new Map(Array.from(pods, ([namespace, own]) => [namespace, indexOf(own)] as const));
  const podless: string[] = [];
  const portless: string[] = [];
  for (const service of services) {
    const terms = Object.entries(service.spec.selector);
    const candidates = indexes.get(service.metadata.namespace)?.get(terms[0]!.join('=')) ?? [];
    const selector = { matchLabels: service.spec.selector, matchExpressions: [] };
    const own = candidates.filter(({ labels }) => selects(selector, labels));
    if (own.length > 0) portless.push(...service.spec.ports.flatMap((port) => undeclared(service, port, own) ?? []));
    else if (isComplete) podless.push(`${nameOf(service)} (${terms.map((term) => term.join('=')).join(',')})`);
  }
  return { podless, portless };
}

function indexOf(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const index = new Map<string, Pod[]>();
  for (const pod of pods)
    for (const label of Object.entries(pod.labels)) {
      const key = label.join('=');
      const same = index.get(key);
      if (same === undefined) index.set(key, [pod]);
      else same.push(pod);
    }
  return index;
}

/** Containers need not declare the ports that they listen on, so a Pod without any says nothing. */
function undeclared(
  service: Pick<Service, 'metadata'>,
  { port, targetPort, protocol }: Service['spec']['ports'][number],
  pods: readonly Pod[],
): string | undefined {
  const of = protocol || 'TCP';
  const wanted = targetPort || port;
  const isDeclared = ({ name, containerPort, protocol: own }: Pod['ports'][number]): boolean =>
    (own || 'TCP') === of && (typeof wanted === 'string' ? name : containerPort) === wanted;
  if (pods.some(({ ports }) => ports.some(isDeclared) || (ports.length === 0 && typeof wanted === 'number')))
    return undefined;
  const declared = pods.flatMap(({ ports }) =>
    ports.map((each) => `${each.name && `${each.name} `}${each.containerPort}/${each.protocol || 'TCP'}`),
  );
  return `${nameOf(service)} from ${port} to ${wanted}/${of} (declared: ${some([...new Set(declared)]) || 'none'})`;
}
