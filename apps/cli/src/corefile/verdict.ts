import { quotedWords } from '@kube-semaphore/text';
import { some } from '../output/some.ts';
import type { Corefile, Directive, ServerBlock } from './parse.ts';
import { type Route, routeOf } from './resolve.ts';
import { ruleNames } from './rewrite.ts';
import { GLOBAL, type Names, oursIn } from './rules.ts';
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
export const sampleOf = ({ name, prefix }: Names, namespace: string): Asked => ({
  name: `service.namespace.svc.cluster.${name}.`,
  wanted: `${prefix}-namespace-73736d-service.${namespace}.svc.`,
  namespace,
});

/** A warning: only some names don't resolve, or CoreDNS may know more than what is seen here. */
export type Fault = { readonly severity: 'problem' | 'warning'; readonly sentence: string };

/** The namespaces that a selector finds; undefined: that isn't known. */
export type Selected = (selector: string) => readonly string[] | undefined;

/** Why CoreDNS doesn't answer a name with the Service. */
export function faultOf(corefile: Corefile, asked: Asked, selected: Selected = () => undefined): Fault | undefined {
  const route = routeOf(corefile, asked.name);
  const { by, answering, unless } = route;
  const sentence = routeFault(corefile, asked, route);
  if (sentence !== undefined)
    return unless === undefined
      ? { severity: 'problem', sentence }
      : { severity: 'warning', sentence: `${sentence}, unless ${unless}` };
  const where = `of "kubernetes" in ${blockName(answering!)}`;
  const hiding = hiddenBy(by!, asked.namespace, selected);
  if (hiding !== undefined)
    return { severity: 'problem', sentence: `${quotedWords(hiding)} ${where} hides ${asked.namespace}` };
  return optionsOf(by!, 'noendpoints').length === 0
    ? undefined
    : { severity: 'warning', sentence: `"noendpoints" ${where}: names of headless Services don't resolve` };
}

/** Why the query doesn't come to the plugin `kubernetes` under the wanted name. */
function routeFault(corefile: Corefile, asked: Asked, { block, name, by, answering }: Route): string | undefined {
  const shown = quotedWords(asked.name.slice(0, -1));
  if (block === undefined) return `no server block of the Corefile gets ${shown}`;
  const who = blockName(block);
  if (name === asked.name) {
    const elsewhere = oursIn(corefile).find(({ directive, block: { directives } }) =>
      (directive === undefined ? directives : [directive]).some((each) => asked.name.endsWith(`.${ruleNames(each)}.`)),
    );
    return `${who} gets ${shown}, and has no rule for it${elsewhere === undefined ? '' : `; ${blockName(elsewhere.block)} has one`}`;
  }
  if (!name.startsWith(asked.wanted))
    return `${who} rewrites ${shown} to ${quotedWords(name)}, not to ${asked.wanted}…`;
  if (answering === undefined) return `no server block of the Corefile gets ${quotedWords(name)}`;
  if (by?.name === 'kubernetes') return undefined;
  const plugin = by === undefined ? 'no plugin' : quotedWords([by.name, ...by.args].join(' '));
  return `${who} rewrites ${shown} to ${quotedWords(name)}, but ${plugin} answers that in ${blockName(answering)}, not "kubernetes"`;
}

/** `the server block ".:53"` */
export const blockName = ({ keys }: ServerBlock): string =>
  `the server block ${quotedWords(keys.map(({ text }) => text).join(' '))}`;

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
  const known = new Set([...names, GLOBAL.name]);
  return Array.from(Map.groupBy(oursIn(corefile), ({ block }) => block)).flatMap(([block, ours]) => {
    const foreign = new Set(ours.flatMap((each) => each.names ?? []).filter((name) => !known.has(name)));
    return foreign.size === 0 ? [] : [`${blockName(block)} has rules for ${some([...foreign])}, which no app reads`];
  });
}

/** Whether CoreDNS answers names in clusterset.local, by ServiceImports or by a rule. */
export function answersImports(corefile: Corefile): boolean {
  const { name, by } = routeOf(corefile, 'service.namespace.svc.clusterset.local.');
  return name.startsWith('mcs-namespace-73736d-service.') || (by !== undefined && hasImports(by));
}

/** Whether a directive serves ServiceImports. */
export const hasImports = (directive: Directive): boolean =>
  directive.name === 'kubernetes' && optionsOf(directive, 'multicluster').length > 0;
