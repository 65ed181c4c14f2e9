import type { Parsed } from '@kube-semaphore/net';
import { quotedWords } from '@kube-semaphore/text';
import { type Corefile, type Directive, hasVariable, parseCorefile, type ServerBlock } from './parse.ts';
import { ruleNames } from './rewrite.ts';
import {
  blockText,
  importsBlock,
  type Left,
  type Names,
  NAMESPACE,
  namesOf,
  namesToSend,
  type Ours,
  oursIn,
  restOf,
  rulesOf,
  type Target,
  type Wanted,
  zoneOf,
} from './rules.ts';
import { BEGIN, blockLinesOf, type Edit, edited, END, isIn, linesOf, marksIn, meaningOf } from './text.ts';
import { blockName, coreDnsOf, firstProblem } from './faults.ts';
import type { Importable, Span } from './words.ts';
import { blockFor, dnsPort, fullName, isWithin, optionsOf, pluginZones, zonesOf } from './zones.ts';

/**
 * A Corefile with our rules for names of Services of the remotes and of global Services, each in the server block that gets
 * them. If that doesn't serve the cluster's own names, they get a server block of their own, which asks the one that does.
 * Rules of ours that are there already are replaced. If nothing would change for CoreDNS, the text stays.
 *
 * @param mcs it also has a zone for ServiceImports
 * @returns a reason if there is no place for the rules, or if something else in the Corefile keeps them from working
 */
export function corefileWith(text: string, wanted: Wanted): Parsed<string> {
  const { mcs = false } = wanted;
  const zones = namesOf(wanted);
  const names = zones.map(({ name }) => name);
  const before = parseCorefile(text);
  if (!before.ok) return before;
  const isReplaced = (ours: Ours, isMarked: boolean): boolean =>
    isMarked || (ours.names === undefined ? mcs : ours.names.some((name) => names.includes(name)));
  // Of a server block of ours, no rule may be left: its zones would be there twice.
  const others = parseCorefile(without(before.value, (ours, isMarked) => (isReplaced(ours, isMarked) ? 'all' : [])));
  if (!others.ok) return others;
  const placed = place(others.value, zones, mcs);
  if (!placed.ok) return placed;
  const after = parseCorefile(placed.value);
  if (!after.ok) return after;
  const problem = firstProblem([coreDnsOf(after.value)], zones);
  if (problem !== undefined) return { ok: false, reason: problem };
  return meaningOf(before.value) === meaningOf(after.value) ? { ok: true, value: text } : placed;
}

/** A Corefile without our rules for some clusters. Without a remote, it has nothing of ours. */
export function corefileWithout(text: string, { removed, remaining }: Left): Parsed<string> {
  const before = parseCorefile(text);
  if (!before.ok) return text.includes('73736d') ? before : { ok: true, value: text };
  return {
    ok: true,
    value: without(before.value, ({ names }) =>
      remaining.length === 0 ? 'all' : (names ?? []).filter((name) => removed.includes(name)),
    ),
  };
}

/**
 * The text of a file with our rules that a Corefile imports.
 *
 * @param importable what it imports besides
 * @returns a reason if there is no place for the rules, or if something else in the Corefile keeps them from working
 */
export function importedRules(
  text: string,
  wanted: Wanted,
  { pattern, file, importable }: { readonly pattern: string; readonly file: string; readonly importable: Importable },
): Parsed<string> {
  const zones = namesOf(wanted);
  const others = parseCorefile(text, importable);
  if (!others.ok) return others;
  const port = dnsPort(others.value);
  const domain = domainOf(others.value, port);
  if (!domain.ok) return domain;
  const taken = obstacle(others.value, zones, port);
  if (taken !== undefined) return { ok: false, reason: taken };
  const imports = wanted.mcs === true && !hasImportsZone(others.value) ? importsBlock(port) : '';
  const rules = imports + ownBlock(zones, { namespace: NAMESPACE, domain: domain.value }, port);
  const after = parseCorefile(text, (each) => {
    const files = importable(each);
    return each === pattern ? new Map([...(files ?? []), [file, rules]]) : files;
  });
  if (!after.ok) return after;
  const problem = firstProblem([coreDnsOf(after.value)], zones);
  return problem === undefined ? { ok: true, value: rules } : { ok: false, reason: problem };
}

/** Where our own CoreDNS listens: deploy/dns. */
const OWN_PORT = 5353;

/** The Corefile of our own CoreDNS, which asks the cluster's DNS server. It has no rights, so ServiceImports need a rule. */
export function ownCorefile(wanted: Wanted, domain = 'cluster.local.'): string {
  const names = namesToSend(wanted);
  const lines = [
    'errors',
    'health',
    'ready',
    'prometheus :9153',
    'reload',
    ...names.flatMap((each) => rulesOf(each, { namespace: NAMESPACE, domain })),
    ...restOf(domain, '/etc/resolv.conf'),
  ];
  return blockText(names, OWN_PORT, lines);
}

/** @param goneOf which names of a part go; with `all`, the part goes */
function without(corefile: Corefile, goneOf: (ours: Ours, isMarked: boolean) => 'all' | readonly string[]): string {
  const { text } = corefile;
  const marks = marksIn(text);
  const edits: Edit[] = [];
  const staying: Span[] = [];
  for (const ours of oursIn(corefile)) {
    const { block, directive, span } = ours;
    const gone = goneOf(
      ours,
      marks.some((mark) => isIn(span, mark)),
    );
    if (gone === 'all' || (gone.length > 0 && gone.length === ours.names?.length)) {
      edits.push({ ...(directive === undefined ? blockLinesOf : linesOf)(text, span), text: '' });
      continue;
    }
    staying.push(span);
    if (directive === undefined && gone.length > 0) edits.push(...shrink(block, gone, text));
  }
  for (const mark of marks)
    if (!staying.some((span) => isIn(span, mark))) edits.push(...mark.lines.map((line) => ({ ...line, text: '' })));
  return edited(text, edits);
}

/** Takes zones and their rules out of a server block of ours. */
function shrink(block: ServerBlock, gone: readonly string[], text: string): readonly Edit[] {
  const { keys, directives } = block;
  const zones = zonesOf(block);
  const left = keys.filter((_, i) => !gone.some((name) => zones[i]!.name === zoneOf(name))).map((key) => key.text);
  const rules = directives.filter((directive) => gone.includes(ruleNames(directive) ?? ''));
  return [
    { start: keys[0]!.start, end: keys.at(-1)!.end, text: left.join(' ') },
    ...rules.map(({ span }) => ({ ...linesOf(text, span), text: '' })),
  ];
}

/** Adds rules to a Corefile that has none of ours for these names. */
function place(corefile: Corefile, zones: readonly Names[], mcs: boolean): Parsed<string> {
  const { text } = corefile;
  const port = dnsPort(corefile);
  const domain = domainOf(corefile, port);
  if (!domain.ok) return domain;
  const target = { namespace: NAMESPACE, domain: domain.value };
  const ofBlock = Map.groupBy(zones, ({ name }) => {
    const block = blockFor(corefile, zoneOf(name), port);
    return block !== undefined && servesCluster(block, domain.value) !== undefined ? block : undefined;
  });
  const edits: Edit[] = [];
  for (const [block, names] of ofBlock)
    if (block !== undefined) {
      const at = anchorIn(block, servesCluster(block, domain.value)!, text);
      if (at === undefined) return { ok: false, reason: `${blockName(block)} has no line of its own for our rules` };
      const lines = [BEGIN, ...names.flatMap((each) => rulesOf(each, target)), END];
      edits.push({ start: at.start, end: at.start, text: lines.map((line) => `${at.indent}${line}\n`).join('') });
    }
  const own = ofBlock.get(undefined) ?? [];
  const taken = own.length === 0 ? undefined : obstacle(corefile, own, port);
  if (taken !== undefined) return { ok: false, reason: taken };
  const imports = mcs && !hasImportsZone(corefile) ? importsBlock(port) : '';
  const added = own.length > 0 ? imports + ownBlock(own, target, port) : imports;
  const start = text.startsWith('\uFEFF') ? 1 : 0;
  if (added !== '') edits.push({ start, end: start, text: `${BEGIN}\n${added}${END}\n` });
  return { ok: true, value: edited(text, edits) };
}

const hasImportsZone = ({ blocks }: Corefile): boolean =>
  blocks.some((block) => zonesOf(block).some(({ name }) => name === 'clusterset.local.'));

const ownBlock = (names: readonly Names[], target: Target, port: number): string =>
  blockText(names, port, [
    'errors',
    ...names.flatMap((each) => rulesOf(each, target)),
    ...restOf(target.domain, `127.0.0.1:${port}`),
  ]);

/** Why a server block of our own wouldn't get the names, or wouldn't reach CoreDNS. */
function obstacle({ blocks }: Corefile, names: readonly Names[], port: number): string | undefined {
  for (const block of blocks.filter((each) => zonesOf(each).some((zone) => zone.port === port))) {
    const isTheirs = zonesOf(block).some((zone) => names.some(({ name }) => zone.name === zoneOf(name)));
    if (isTheirs) return `${blockName(block)} has the same zone as our rules, and no "kubernetes" for the cluster`;
    if (block.directives.some(({ name }) => name === 'bind'))
      return `${blockName(block)} has "bind", so CoreDNS may not listen where our rules would ask it`;
  }
  return undefined;
}

/** The domain of the cluster that a Corefile has, with the dot at its end. */
export function clusterDomain(text: string): string | undefined {
  const parsed = parseCorefile(text);
  if (!parsed.ok) return undefined;
  const domain = domainOf(parsed.value, dnsPort(parsed.value));
  return domain.ok ? domain.value : undefined;
}

/** The domain of the cluster. ServiceImports have another one, and addresses are no names. */
function domainOf(corefile: Corefile, port: number): Parsed<string> {
  const domains = corefile.blocks.flatMap((block) =>
    block.directives
      .filter(({ name }) => name === 'kubernetes')
      .flatMap((each) => {
        const imports = optionsOf(each, 'multicluster').flat().map(fullName);
        const [domain] = pluginZones(each.args, block).filter(
          (zone) => !/\.(?:in-addr|ip6)\.arpa\.$|\//.test(zone) && !imports.includes(zone),
        );
        return domain !== undefined && blockFor(corefile, `svc.${domain}`, port) === block ? [domain] : [];
      }),
  );
  const [domain, ...more] = new Set(domains);
  if (domain === undefined) return { ok: false, reason: 'no "kubernetes" serves the names of the cluster' };
  if (hasVariable(domain)) return { ok: false, reason: 'a variable has the domain of the cluster' };
  if (more.length === 0) return { ok: true, value: domain };
  return domains.includes('cluster.local.')
    ? { ok: true, value: 'cluster.local.' }
    : { ok: false, reason: `"kubernetes" serves several domains: ${quotedWords([domain, ...more].join(', '))}` };
}

const servesCluster = (block: ServerBlock, domain: string): Directive | undefined =>
  block.directives.find(
    ({ name, args }) => name === 'kubernetes' && pluginZones(args, block).some((zone) => isWithin(domain, zone)),
  );

/** Where a line can be added: before the plugin, or else before the last brace. */
function anchorIn(
  { span: { end }, isImported }: ServerBlock,
  kubernetes: Directive,
  text: string,
): { readonly start: number; readonly indent: string } | undefined {
  if (isImported) return undefined;
  for (const [at, more] of [
    [kubernetes.span.start, ''],
    [end - 1, '    '],
  ] as const) {
    const { start } = linesOf(text, { start: at, end: at });
    if ('\n\uFEFF'.includes(text[start - 1] ?? '\n')) return { start, indent: `${text.slice(start, at)}${more}` };
  }
  return undefined;
}
