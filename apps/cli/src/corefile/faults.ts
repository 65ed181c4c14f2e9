import { quotedWords } from '@kube-semaphore/text';
import { some } from '../output/some.ts';
import type { Corefile, Directive, ServerBlock } from './parse.ts';
import { type Route, routeOf } from './resolve.ts';
import { domainFor, ruleNames } from './rewrite.ts';
import { GLOBAL, IMPORTS, type Names, NAMESPACE, oursIn } from './rules.ts';
import { optionsOf } from './zones.ts';

/** A name, and the Service that a rule must lead to. */
export type Asked = {
  /** `web.shop.svc.cluster.c2.` */
  readonly name: string;
  /** `c2-shop-73736d-web.sys-semaphore.svc.`, without the domain of the cluster. */
  readonly wanted: string;
  readonly namespace: string;
};

/** Any name of a cluster. */
export const sampleOf = ({ name, prefix }: Names, namespace = NAMESPACE): Asked => ({
  name: `service.namespace.svc.${domainFor(name)}.`,
  wanted: `${prefix}-namespace-73736d-service.${namespace}.svc.`,
  namespace,
});

/** A warning: only some names don't resolve, or CoreDNS may know more than what is seen here. */
export type Fault = {
  readonly severity: 'problem' | 'warning';
  readonly sentence: string;
  /** The name of the server that is wrong. */
  readonly server: string;
};

/** The namespaces that a selector finds; undefined: that isn't known. */
export type Selected = (selector: string) => readonly string[] | undefined;

/** A DNS server of a cluster, and what it does. */
export type DnsServer = {
  /** `NodeLocal DNSCache`, for example. */
  readonly name: string;
  readonly corefile: Corefile;
  /** How other servers name it: addresses, and what stands for them. */
  readonly addresses: readonly string[];
  /** What its own /etc/resolv.conf says, as far as that is in the cluster. */
  readonly resolvers: readonly string[];
};

/** The server that knows the Services of a cluster. */
export const COREDNS = 'CoreDNS';

/** On each node, before the others. */
export const NODE_CACHE = 'NodeLocal DNSCache';

/** It has stub domains in place of server blocks. */
export const KUBE_DNS = 'kube-dns';

export const coreDnsOf = (corefile: Corefile): DnsServer => ({
  name: COREDNS,
  corefile,
  addresses: [],
  resolvers: [],
});

/** A server on the way of a query, and what becomes of the query there. */
type Hop = Route & { readonly server: DnsServer };

/** The way of a query through some servers, of which the first one gets it. */
function hopsOf(servers: readonly DnsServer[], name: string): readonly Hop[] {
  const hops: Hop[] = [];
  for (let [server] = servers, asked = name; server !== undefined && hops.length <= servers.length;) {
    const { resolvers } = server;
    const route = routeOf(server.corefile, asked);
    hops.push({ ...route, server });
    const [, ...words] = route.by?.name === 'forward' ? route.by.args : [];
    const targets = words.flatMap((word) => (word === '/etc/resolv.conf' ? resolvers : [addressIn(word)]));
    server = servers.find(({ addresses }) => targets.some((target) => addresses.includes(target)));
    asked = route.name;
  }
  return hops;
}

/** Of `dns://10.96.0.10:53`. */
const addressIn = (word: string): string =>
  word
    .replace(/^dns:\/\//, '')
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1');

/** Why DNS servers, of which Pods ask the first one, don't answer a name with the Service. */
export function faultOf(
  servers: readonly DnsServer[],
  asked: Asked,
  selected: Selected = () => undefined,
): Fault | undefined {
  const hops = hopsOf(servers, asked.name);
  const { by, answering, server } = hops.at(-1)!;
  const { name } = server;
  const unless = hops.find((hop) => hop.unless !== undefined)?.unless;
  const sentence = routeFault(hops, asked);
  if (sentence !== undefined)
    return unless === undefined
      ? { severity: 'problem', sentence, server: name }
      : { severity: 'warning', sentence: `${sentence}, unless ${unless}`, server: name };
  const where = `of "kubernetes" in ${blockName(answering!, server)}`;
  const hiding = hiddenBy(by!, asked.namespace, selected);
  if (hiding !== undefined)
    return { severity: 'problem', sentence: `${quotedWords(hiding)} ${where} hides ${asked.namespace}`, server: name };
  if (optionsOf(by!, 'noendpoints').length === 0) return undefined;
  return {
    severity: 'warning',
    sentence: `"noendpoints" ${where}: names of headless Services don't resolve`,
    server: name,
  };
}

/** Why Pods don't get the Services of the first of these names that don't resolve; undefined: all do. */
export const firstProblem = (servers: readonly DnsServer[], names: readonly Names[]): string | undefined =>
  names.map((each) => faultOf(servers, sampleOf(each))).find((fault) => fault?.severity === 'problem')?.sentence;

/** What DNS servers make of a name at last, and the plugin that answers that. */
export function answerOf(servers: readonly DnsServer[], name: string): Pick<Route, 'name' | 'by'> {
  const { by, name: answered } = hopsOf(servers, name).at(-1)!;
  return { name: answered, by };
}

/** Why the query doesn't come to the plugin `kubernetes` under the wanted name. */
function routeFault(hops: readonly Hop[], asked: Asked): string | undefined {
  const { block, name, by, answering, server } = hops.at(-1)!;
  const shown = quotedWords(asked.name.slice(0, -1));
  if (block === undefined) return `no server block of ${fileName(server)} gets ${shown}`;
  const who = blockName(block, server);
  if (name === asked.name) {
    if (server.name === KUBE_DNS) return `kube-dns has no stub domain for ${shown}`;
    if (server.name === NODE_CACHE && by?.name === 'forward')
      return `${who} sends ${shown} to ${quotedWords(by.args.slice(1).join(' '))}, not to the DNS server of the cluster`;
    return `${who} gets ${shown}, and has no rule for it${elsewhereIn(server, asked)}`;
  }
  const rewriting = hops.find((hop) => hop.name !== asked.name)!;
  const rewriter = blockName(rewriting.block!, rewriting.server);
  if (!name.startsWith(asked.wanted))
    return `${rewriter} rewrites ${shown} to ${quotedWords(name)}, not to ${asked.wanted}…`;
  if (answering === undefined) return `no server block of ${fileName(server)} gets ${quotedWords(name)}`;
  if (by?.name === 'kubernetes') return undefined;
  const plugin = by === undefined ? 'no plugin' : quotedWords([by.name, ...by.args].join(' '));
  const where = blockName(answering, server);
  return `${rewriter} rewrites ${shown} to ${quotedWords(name)}, but ${plugin} answers that in ${where}, not "kubernetes"`;
}

/** Another server block that has the rule. */
function elsewhereIn({ corefile }: DnsServer, { name }: Asked): string {
  const elsewhere = oursIn(corefile).find(({ directive, block: { directives } }) =>
    (directive === undefined ? directives : [directive]).some((each) => {
      const cluster = ruleNames(each);
      return cluster !== undefined && name.endsWith(`.${domainFor(cluster)}.`);
    }),
  );
  return elsewhere === undefined ? '' : `; ${blockName(elsewhere.block)} has one`;
}

const fileName = ({ name }: DnsServer): string => (name === COREDNS ? 'the Corefile' : `the Corefile of ${name}`);

/** `the server block ".:53"` */
export function blockName({ keys }: ServerBlock, { name }: Pick<DnsServer, 'name'> = { name: COREDNS }): string {
  const block = `the server block ${quotedWords(keys.map(({ text }) => text).join(' '))}`;
  return name === COREDNS ? block : name === KUBE_DNS ? KUBE_DNS : `${block} of ${name}`;
}

/** The option that hides a namespace; undefined: it is seen, or that isn't known. */
function hiddenBy(kubernetes: Directive, namespace: string, selected: Selected): string | undefined {
  const namespaces = optionsOf(kubernetes, 'namespaces').flat();
  if (namespaces.length > 0 && !namespaces.includes(namespace)) return `namespaces ${namespaces.join(' ')}`;
  const selector = namespaceSelector(kubernetes);
  if (selector === undefined || selected(selector)?.includes(namespace) !== false) return undefined;
  return `namespace_labels ${selector}`;
}

/** The last one counts. */
const namespaceSelector = (kubernetes: Directive): string | undefined =>
  optionsOf(kubernetes, 'namespace_labels').at(-1)?.join(' ');

/** The selectors of `namespace_labels` in a Corefile. */
export const namespaceSelectors = ({ blocks }: Corefile): readonly string[] => [
  ...new Set(
    blocks.flatMap(({ directives }) =>
      directives.filter(({ name }) => name === 'kubernetes').flatMap((each) => namespaceSelector(each) ?? []),
    ),
  ),
];

/** Our rules for clusters that aren't among these: a sentence for each server block. */
export function foreignRules(corefile: Corefile, names: readonly string[]): readonly string[] {
  const known = new Set([...names, GLOBAL.name, IMPORTS.name]);
  return Array.from(Map.groupBy(oursIn(corefile), ({ block }) => block)).flatMap(([block, ours]) => {
    const foreign = new Set(ours.flatMap((each) => each.names ?? []).filter((name) => !known.has(name)));
    return foreign.size === 0 ? [] : [`${blockName(block)} has rules for ${some([...foreign])}, which no app reads`];
  });
}

/** Why DNS servers don't answer names in clusterset.local, by ServiceImports or by a rule. */
export function importsFault(servers: readonly DnsServer[]): string | undefined {
  const { name, by, server } = hopsOf(servers, 'service.namespace.svc.clusterset.local.').at(-1)!;
  if (name.startsWith('mcs-namespace-73736d-service.') || (by !== undefined && hasImports(by))) return undefined;
  return server.name === NODE_CACHE
    ? `${server.name} sends clusterset.local elsewhere than to the DNS server of the cluster`
    : `${fileName(server)} has no names for ServiceImports`;
}

/** Whether a directive serves ServiceImports. */
export const hasImports = (directive: Directive): boolean =>
  directive.name === 'kubernetes' && optionsOf(directive, 'multicluster').length > 0;
