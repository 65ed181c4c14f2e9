import { isLabelKey, isLabelValue } from '@kube-semaphore/naming';
import { parseIp } from '@kube-semaphore/net';
import { type AppPod } from '../clusters/report.ts';
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

/** The ways from a cluster to the others: to Pod IPs, and if the cluster mirrors the other one, to its Service. */
export function targetsOf(from: Site, others: readonly Site[], { name, namespace }: Named): readonly Target[] {
  return others.flatMap((other): readonly Target[] => {
    const to = other.cluster;
    const pods = other.ips.map((ip) => ({ to, by: 'pod' as const, url: urlOf(ip.includes(':') ? `[${ip}]` : ip) }));
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

/** One per family. Pods of other clusters call them, and this cluster may say anything: nothing else may get into a URL. */
export const addressesIn = (said: readonly { readonly ip: string }[] = []): readonly string[] =>
  said.slice(0, 2).flatMap(({ ip }) => {
    const parsed = parseIp(ip);
    return parsed.ok ? [parsed.value] : [];
  });

const urlOf = (host: string): string => `http://${host}:${PORT}/`;

/** How `from` mirrors the other cluster, which it knows by the name that the other one gives to itself. */
function mirrorOf(from: Site, other: Site): { readonly prefix: string; readonly namespace: string } | undefined {
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
