import type { Corefile, Directive, ServerBlock } from './parse.ts';
import type { Span } from './words.ts';
import { domainFor, IMPORTS_DOMAIN, ruleNames } from './rewrite.ts';
import { fullName, zonesOf } from './zones.ts';

/** Names that a rule rewrites: those of the cluster `name`, or of GLOBAL or IMPORTS, to Services with the prefix. */
export type Names = { readonly name: string; readonly prefix: string };

/** Where the names of a cluster lead. */
export type Target = {
  /** The namespace of the Services. */
  readonly namespace: string;
  /** That of the cluster: `cluster.local.` */
  readonly domain: string;
};

/** The mirror namespace of what `semaphore link` writes. */
export const NAMESPACE = 'sys-semaphore';

export const GLOBAL: Names = { name: 'global', prefix: 'gl' };

/** ServiceImports whose Services are in the mirror namespace. */
export const IMPORTS: Names = { name: IMPORTS_DOMAIN, prefix: 'mcs' };

/** Whose names a cluster gets: those of its remotes, of global Services, and perhaps of ServiceImports. */
export type Wanted = { readonly remotes: readonly string[]; readonly mcs?: boolean | undefined };

/** Those that rules of CoreDNS rewrite. */
export const namesOf = ({ remotes }: Wanted): readonly Names[] => [
  ...remotes.toSorted().map((name) => ({ name, prefix: name })),
  GLOBAL,
];

/** Those that a DNS server without rules sends elsewhere. */
export const namesToSend = (wanted: Wanted): readonly Names[] =>
  wanted.mcs === true ? [...namesOf(wanted), IMPORTS] : namesOf(wanted);

/** Clusters that a cluster loses, and those that it keeps. */
export type Left = { readonly removed: readonly string[]; readonly remaining: readonly string[] };

/** Whether names of a cluster go; without a remaining cluster, all of ours do. */
export const isGone = ({ removed, remaining }: Left, name: string): boolean =>
  remaining.length === 0 || removed.includes(name);

const MAX_LABEL = 63;

/** With the dot at its end: 255 bytes in a message. */
const MAX_NAME = 254;

/** `svc.cluster.c2.` */
export const zoneOf = (name: string): string => `svc.${domainFor(name)}.`;

/** Whose names are in a zone, as `zoneOf` has it; undefined: no cluster's. */
export function nameOf(zone: string): string | undefined {
  const [, cluster, imports] = /^svc\.(?:cluster\.([^.]+)|(clusterset\.local))\.$/.exec(zone) ?? [];
  return cluster ?? imports;
}

const escaped = (name: string): string => name.replaceAll('.', String.raw`\.`);

/**
 * The lines for the names of a cluster. The first rule puts Service and namespace first. So the second one can measure them:
 * CoreDNS answers SERVFAIL if a rule makes a name that is too long, and these names don't exist. The third one leads to the
 * Service.
 */
export function rulesOf({ name, prefix }: Names, { namespace, domain }: Target): readonly string[] {
  const suffix = `.${namespace}.svc.${domain}`;
  const ofMirror = `${prefix}--73736d-`.length;
  const own = domainFor(name);
  // Of `service.namespace`, and of all before `cluster.c2.`, once `svc.` is moved.
  const tooLong = { label: MAX_LABEL - ofMirror + 2, name: MAX_NAME - ofMirror - suffix.length + '..svc.'.length + 1 };
  const target = suffix.replace(/\.$/, '');
  const zone = String.raw`${escaped(own)}\.$`;
  const mirror = String.raw`^((?:[^.]+\.)*)${prefix}-([^.]+?)-73736d-([^.]+)${escaped(suffix)}$`;
  const answer = `${mirror} {1}{3}.{2}.svc.${own}`;
  const sorted = String.raw`^((?:[^.]+\.)*)([^.]+)\.([^.]+)\.svc\.${zone} {2}.{3}.svc.{1}${own}`;
  return [
    `rewrite continue name regex ${sorted}`,
    String.raw`rewrite stop name regex ^(?:.{${tooLong.label},}\.svc\..*|.{${tooLong.name},})${zone} too-long${target}`,
    'rewrite stop {',
    String.raw`    name regex ^([^.]+)\.([^.]+)\.svc\.((?:[^.]+\.)*)${zone} {3}${prefix}-{2}-73736d-{1}${target}`,
    `    answer name ${answer}`,
    `    answer value ${answer}`,
    '}',
  ];
}

/**
 * What a server block of our own has after its rules: for other names in its zones, and for those that the rules make.
 *
 * @param server that knows the cluster's Services
 */
export const restOf = (domain: string, server: string): readonly string[] => [
  'template ANY ANY {',
  '    rcode NXDOMAIN',
  '}',
  `forward ${domain.replace(/\.$/, '')} ${server}`,
];

/** A server block for the zones of these names. */
export function blockText(names: readonly Pick<Names, 'name'>[], port: number, lines: readonly string[]): string {
  const keys = names.map(({ name }) => `${zoneOf(name).slice(0, -1)}:${port}`).join(' ');
  return `${keys} {\n${lines.map((line) => `    ${line}\n`).join('')}}\n`;
}

/** The zone of ServiceImports: that of docs/mcs.md. */
export const importsBlock = (port: number): string => `clusterset.local:${port} {
    errors
    kubernetes clusterset.local {
        multicluster clusterset.local
    }
    cache 5
}
`;

/** A part of a Corefile that is ours, as whole lines. */
export type Ours = {
  /** Whose names it is about; undefined: those of ServiceImports. */
  readonly names: readonly string[] | undefined;
  readonly block: ServerBlock;
  /** Undefined: the whole server block. */
  readonly directive: Directive | undefined;
  readonly span: Span;
};

/** All of them, whatever is around: other programs drop comments and change spaces. */
export const oursIn = ({ blocks }: Corefile): readonly Ours[] =>
  blocks.flatMap((block): readonly Ours[] => {
    const { directives, span, isImported } = block;
    if (isImported) return [];
    const whole = { block, directive: undefined, span };
    if (isImportsBlock(block)) return [{ ...whole, names: undefined }];
    const names = ownZonesOf(block);
    if (names !== undefined) return [{ ...whole, names }];
    return directives.flatMap((directive) => {
      const name = directive.isImported ? undefined : ruleNames(directive);
      return name === undefined ? [] : [{ names: [name], block, directive, span: directive.span }];
    });
  });

/** The clusters of a server block that has our rules for its zones, and no others; undefined: it isn't ours. */
function ownZonesOf(block: ServerBlock): readonly string[] | undefined {
  const names = ownNamesOf(block);
  const rules = block.directives.filter(({ name }) => name === 'rewrite').map(ruleNames);
  const isOurs = [...names, ...rules].every((name) => name !== undefined) && rules.length > 0;
  return isOurs ? names.filter((name) => name !== undefined) : undefined;
}

/** Whose names are in the zones of a server block; undefined: no cluster's. */
export const ownNamesOf = (block: ServerBlock): readonly (string | undefined)[] =>
  zonesOf(block).map(({ name }) => nameOf(name));

function isImportsBlock(block: ServerBlock): boolean {
  const [zone, ...more] = zonesOf(block);
  const words = block.directives.map(({ name, args, lines }) => [name, ...args, ...lines.flat()].join(' '));
  return (
    zone?.name === fullName(IMPORTS_DOMAIN) &&
    more.length === 0 &&
    words.join('\n') === 'errors\nkubernetes clusterset.local multicluster clusterset.local\ncache 5'
  );
}
