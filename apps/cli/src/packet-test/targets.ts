import type { Service } from '@kube-semaphore/kube-objects';
import { isDnsLabel, isLabelKey, isLabelValue } from '@kube-semaphore/naming';
import { familyOf, parseIp } from '@kube-semaphore/net';
import { type AppPod, isUsedBetween } from '../clusters/report.ts';
import { UsageError } from '../usage-error.ts';
import { PORT, type Target } from './probe.ts';

/** A cluster with its answering Pod. */
export type Site = {
  readonly cluster: string;
  readonly pods: readonly AppPod[];
  /** Of the answering Pod, one per family. */
  readonly ips: readonly string[];
};

/** The Service of the answering Pods, which has the same name everywhere. */
type Named = { readonly name: string; readonly namespace: string };

/** The ways from a cluster to the others: to Pod IPs of the families in use, and if the cluster mirrors the other one, to its Service. */
export function targetsOf(from: Site, others: readonly Site[], { name, namespace }: Named): readonly Target[] {
  return others.flatMap((other): readonly Target[] => {
    const to = other.cluster;
    const ips = other.ips.filter((ip) => isUsedBetween(familyOf(ip), from, other));
    const pods = ips.map((ip) => ({ to, by: 'pod' as const, url: urlOf(ip.includes(':') ? `[${ip}]` : ip) }));
    const mirror = mirrorOf(from, other);
    if (mirror === undefined) return pods;
    const service = `${mirror.prefix}-${namespace}-73736d-${name}.${mirror.namespace}.svc`;
    return [
      ...pods,
      { to, by: 'service', url: urlOf(service) },
      { to, by: 'name', url: urlOf(`${name}.${namespace}.svc.cluster.${mirror.prefix}`) },
    ];
  });
}

/** Reads `--service`. @throws {UsageError} */
export function serviceIn(text: string): Named {
  const [namespace = '', name = '', ...rest] = text.split('/');
  if (!isDnsLabel(namespace) || !isDnsLabel(name) || rest.length > 0)
    throw new UsageError(`--service ${JSON.stringify(text)} is not a Service: use namespace/name`);
  return { namespace, name };
}

/**
 * The TCP ports of a Service of another cluster, by the name that it has in this one.
 *
 * @returns undefined if this cluster doesn't mirror the other one
 */
export function portTargets(
  from: Pick<Site, 'pods'>,
  other: Pick<Site, 'cluster' | 'pods'>,
  { metadata: { namespace, name }, spec }: Service,
): readonly Target[] | undefined {
  const mirror = mirrorOf(from, other);
  if (mirror === undefined) return undefined;
  return spec.ports
    .filter(({ protocol }) => protocol === 'TCP' || protocol === '')
    .map(({ port, targetPort }) => {
      // Without an address of its own, the name leads to Pods, whose ports nothing translates.
      const isTranslated = spec.clusterIP !== 'None' || typeof targetPort !== 'number' || targetPort === 0;
      const url = `tcp://${name}.${namespace}.svc.cluster.${mirror.prefix}:${isTranslated ? port : targetPort}`;
      return { to: other.cluster, by: 'port', url };
    });
}

/** One per family. Pods of other clusters call them, and this cluster may say anything: nothing else may get into a URL. */
export const addressesIn = (said: readonly { readonly ip: string }[] = []): readonly string[] =>
  said.slice(0, 2).flatMap(({ ip }) => {
    const parsed = parseIp(ip);
    return parsed.ok ? [parsed.value] : [];
  });

const urlOf = (host: string): string => `http://${host}:${PORT}/`;

/** How `from` mirrors the other cluster, which it knows by the name that the other one gives to itself. */
function mirrorOf(
  from: Pick<Site, 'pods'>,
  other: Pick<Site, 'pods'>,
): { readonly prefix: string; readonly namespace: string } | undefined {
  const itself = statusOf('semaphore-service-mirror', other)?.config.name;
  const here = statusOf('semaphore-service-mirror', from);
  const prefix = here?.remotes.find(({ name }) => name === itself)?.config.servicePrefix;
  const namespace = here?.config.mirrorNamespace;
  return prefix === undefined || namespace === undefined ? undefined : { prefix, namespace };
}

/** The labels by which the clusters select Services to mirror. A selector that isn't a valid `key=value` is ignored. */
export function mirrorLabels(sites: readonly Pick<Site, 'pods'>[]): Readonly<Record<string, string>> {
  const selectors = sites.flatMap(
    (site) => statusOf('semaphore-service-mirror', site)?.config.mirrorSelector?.split(',') ?? [],
  );
  return Object.fromEntries(
    selectors.flatMap((selector) => {
      const [, key, value] = /^([^=!\s()]+)==?([^=\s()]*)$/.exec(selector) ?? [];
      return key !== undefined && value !== undefined && isLabelKey(key) && isLabelValue(value) ? [[key, value]] : [];
    }),
  );
}

/** The name by which other clusters know this one, as its agents say. */
export const tunnelName = (site: Pick<Site, 'pods'>): string | undefined =>
  statusOf('semaphore-wireguard', site)?.config.name;

const statusOf = (wanted: AppPod['app'], { pods }: Pick<Site, 'pods'>) =>
  pods.flatMap(({ app, status }) => (app === wanted && !('failure' in status) ? [status] : []))[0];
