import { matchesGlob } from 'node:path';
import type { Parsed } from '@kube-semaphore/net';
import { parseYaml } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import { parseCorefile } from '../corefile/parse.ts';
import type { Importable } from '../corefile/words.ts';
import { COREDNS, type DnsServer, KUBE_DNS, NODE_CACHE } from '../corefile/faults.ts';

/** What CoreDNS is to use. */
export type StoredCorefile = {
  readonly text: string;
  /** When it was last written; -Infinity or NaN if unknown. */
  readonly changedMs: number;
  /** The field manager of who wrote it last; undefined if unknown. */
  readonly writer?: string | undefined;
};

/** What decides how names resolve in a cluster, as far as objects say it. */
export type DnsConfig = {
  /** Of CoreDNS, in `kube-system/coredns`, where kubeadm and others put it. */
  readonly corefile: StoredCorefile | undefined;
  /** The files of `kube-system/coredns-custom`, which the Corefiles of k3s, AKS and others import. */
  readonly custom: ReadonlyMap<string, string> | undefined;
  /** Of NodeLocal DNSCache. */
  readonly nodeCache: { readonly configMap: string; readonly text: string } | undefined;
  /** Whether kube-dns has its ConfigMap. */
  readonly hasKubeDns: boolean;
  /** Of kube-dns: JSON, from a zone to the servers that have it. NodeLocal DNSCache takes them, too. */
  readonly stubDomains: string | undefined;
  /** The Corefile that OpenShift's DNS operator writes. */
  readonly openShift: string | undefined;
  /** The Corefile of our own CoreDNS: deploy/dns. */
  readonly own: string | undefined;
  /** Of the cluster's DNS server: its Services. */
  readonly clusterAddresses: readonly string[];
  /** Of our own CoreDNS. */
  readonly ownAddresses: readonly string[];
  /** The resource versions of the ConfigMaps that exist: `kube-system/coredns`. */
  readonly versions: ReadonlyMap<string, string>;
};

/** The ConfigMaps that `semaphore link` may change. */
export const DNS_CONFIG_MAPS = ['coredns', 'coredns-custom', 'node-local-dns', 'nodelocaldns', 'kube-dns'].map(
  (name) => `kube-system/${name}`,
);

const OPENSHIFT = 'OpenShift';
const OWN = 'semaphore-dns';

/** Which DNS server answers for the cluster. `other`: none that is known here. */
export type DnsKind = 'CoreDNS' | 'OpenShift' | 'kube-dns' | 'other';

export function dnsKindOf({ corefile, openShift, hasKubeDns }: DnsConfig): DnsKind {
  if (corefile !== undefined) return 'CoreDNS';
  if (openShift !== undefined) return 'OpenShift';
  return hasKubeDns ? 'kube-dns' : 'other';
}

/** The ConfigMap of a DNS server, by its name. */
export const configMapOf = ({ nodeCache }: DnsConfig, server: string): string =>
  ({
    [NODE_CACHE]: nodeCache?.configMap,
    [KUBE_DNS]: 'kube-system/kube-dns',
    [OPENSHIFT]: 'openshift-dns/dns-default',
    [OWN]: 'sys-semaphore/semaphore-dns',
  })[server] ?? 'kube-system/coredns';

/** The files that `import custom/*.server` means. The folder is mounted from `coredns-custom`, if that exists. */
export const customFiles =
  ({ custom }: Pick<DnsConfig, 'custom'>): Importable =>
  (pattern) => {
    const [, glob] = /(?:^|\/)custom\/([^/]+)$/.exec(pattern) ?? [];
    return glob === undefined ? undefined : new Map([...(custom ?? [])].filter(([file]) => matchesGlob(file, glob)));
  };

/**
 * The DNS servers of a cluster, of which Pods ask the first one; none if it is not known.
 *
 * @returns a reason if a Corefile can't be read
 */
export function serversOf(config: DnsConfig): Parsed<readonly DnsServer[]> {
  const { corefile, nodeCache, openShift, own, clusterAddresses, ownAddresses } = config;
  const domains = stubDomainsIn(config.stubDomains);
  const stubs = Object.entries(domains.ok ? domains.value : {})
    .map(([zone, servers]) => `${zone}:53 {\n    forward . ${servers.join(' ')}\n}\n`)
    .join('');
  const ofCluster = { addresses: ['__PILLAR__CLUSTER__DNS__', ...clusterAddresses], resolvers: [] };
  const texts = {
    CoreDNS: { name: COREDNS, text: corefile?.text ?? '' },
    OpenShift: { name: OPENSHIFT, text: openShift ?? '' },
    'kube-dns': { name: KUBE_DNS, text: `${stubs}.:53 {\n    kubernetes cluster.local\n    forward . upstream\n}\n` },
    other: undefined,
  };
  const cluster = texts[dnsKindOf(config)];
  if (cluster === undefined) return { ok: true, value: [] };
  const servers = [
    ...(nodeCache === undefined
      ? []
      : [{ name: NODE_CACHE, text: `${nodeCache.text}\n${stubs}`, addresses: [], resolvers: [] }]),
    { ...cluster, ...ofCluster },
    ...(own === undefined ? [] : [{ name: OWN, text: own, addresses: ownAddresses, resolvers: ofCluster.addresses }]),
  ];
  const found: DnsServer[] = [];
  for (const { text, ...server } of servers) {
    const parsed = parseCorefile(text, customFiles(config));
    if (!parsed.ok)
      return { ok: false, reason: server.name === COREDNS ? parsed.reason : `${server.name}: ${parsed.reason}` };
    found.push({ ...server, corefile: parsed.value });
  }
  return { ok: true, value: found };
}

/** From a zone to the servers that have it. */
export type StubDomains = Readonly<Record<string, readonly string[]>>;

const stubDomains = z.record(
  z.string().check(z.regex(/^[\w.-]+$/)),
  z.array(z.string().check(z.regex(/^[\w.:[\]-]+$/))),
);

/** @param text as in the ConfigMap; without it, kube-dns has none */
export function stubDomainsIn(text = '{}'): Parsed<StubDomains> {
  const page = parseYaml(text);
  const checked = page.ok ? stubDomains.safeParse(page.value) : undefined;
  return checked?.success === true
    ? { ok: true, value: checked.data }
    : { ok: false, reason: 'stubDomains is no JSON of zones with addresses' };
}
