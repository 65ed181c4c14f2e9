import { serviceKind } from '@kube-semaphore/kube-objects';
import * as z from 'zod/mini';
import type { Context } from '../clusters/contexts.ts';
import { allOf, configMapPath, mapRead, type Read, readAs, readObject, type Run } from '../clusters/objects.ts';
import type { DnsConfig, StoredCorefile } from './config.ts';

const writer = z.object({ manager: z.optional(z.string()), time: z.optional(z.string()), fieldsV1: z.unknown() });
const configMap = z.object({
  metadata: z.object({ resourceVersion: z.string(), managedFields: z._default(z.array(writer), []) }),
  data: z.nullish(z.record(z.string(), z.string())),
});

type ConfigMap = z.infer<typeof configMap>;

/**
 * Reads what decides how names resolve in a cluster.
 *
 * @param groups the API groups that the cluster has
 */
export async function readDnsConfig(context: Context, groups: ReadonlySet<string>, run: Run): Promise<Read<DnsConfig>> {
  const versions = new Map<string, string>();
  const configMapOf = async (name: string): Promise<Read<ConfigMap | undefined>> => {
    const read = await readAs(context, configMapPath(name), configMap, run);
    if (read.known && read.value !== undefined) versions.set(name, read.value.metadata.resourceVersion);
    return read;
  };
  const addressesOf = async (name: string): Promise<Read<readonly string[]>> => {
    const [namespace = '', own = ''] = name.split('/');
    const read = await readObject(context, serviceKind, { namespace, name: own }, run);
    return mapRead(read, (service) => service?.spec.clusterIPs.filter((ip) => ip !== 'None') ?? []);
  };
  const absent = { known: true, value: undefined } as const;
  const isOpenShift = groups.has('operator.openshift.io');
  const reads = await Promise.all([
    configMapOf('kube-system/coredns'),
    configMapOf('kube-system/coredns-custom'),
    configMapOf('kube-system/node-local-dns'),
    configMapOf('kube-system/nodelocaldns'),
    configMapOf('kube-system/kube-dns'),
    configMapOf('sys-semaphore/semaphore-dns'),
    isOpenShift ? configMapOf('openshift-dns/dns-default') : absent,
    addressesOf(isOpenShift ? 'openshift-dns/dns-default' : 'kube-system/kube-dns'),
    addressesOf('kube-system/kube-dns-upstream'),
    addressesOf('sys-semaphore/semaphore-dns'),
  ]);
  const [coredns, custom, nodeLocal, kubespray, kubeDns, own, openShift, ofCluster, upstream, ofOwn] = reads;
  const read = allOf({ coredns, custom, nodeLocal, kubespray, kubeDns, own, openShift, ofCluster, upstream, ofOwn });
  return mapRead(read, (found) => ({
    corefile: storedOf(found.coredns),
    custom:
      found.custom === undefined
        ? undefined
        : new Map(Object.entries(found.custom.data ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    nodeCache:
      cacheOf('kube-system/node-local-dns', found.nodeLocal) ?? cacheOf('kube-system/nodelocaldns', found.kubespray),
    hasKubeDns: found.kubeDns !== undefined,
    stubDomains: found.kubeDns?.data?.['stubDomains'],
    openShift: found.openShift?.data?.['Corefile'],
    own: found.own?.data?.['Corefile'],
    clusterAddresses: [...found.ofCluster, ...found.upstream],
    ownAddresses: found.ofOwn,
    versions,
  }));
}

function storedOf(found: ConfigMap | undefined): StoredCorefile | undefined {
  const text = found?.data?.['Corefile'];
  if (found === undefined || text === undefined) return undefined;
  const writes = found.metadata.managedFields.filter(({ fieldsV1 }) =>
    JSON.stringify(fieldsV1 ?? {}).includes('"f:Corefile"'),
  );
  const changedMs = Math.max(...writes.map(({ time = '' }) => Date.parse(time)));
  return { text, changedMs, writer: writes.find(({ time = '' }) => Date.parse(time) === changedMs)?.manager };
}

function cacheOf(name: string, found: ConfigMap | undefined): DnsConfig['nodeCache'] {
  const text = found?.data?.['Corefile'];
  return text === undefined ? undefined : { configMap: name, text };
}
