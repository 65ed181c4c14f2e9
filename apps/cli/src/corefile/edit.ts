import type { Parsed } from '@kube-semaphore/net';
import { quotedWords } from '@kube-semaphore/text';
import { type Corefile, type Directive, hasVariable, parseCorefile, type ServerBlock, type Span } from './parse.ts';
import { ruleNames } from './rewrite.ts';
import { GLOBAL, importsBlock, type Names, type Ours, oursIn, restOf, rulesOf, type Target, zoneOf } from './rules.ts';
import { blockName, faultOf, sampleOf } from './verdict.ts';
import { blockFor, dnsPort, fullName, isWithin, optionsOf, pluginZones, zonesOf } from './zones.ts';

const BEGIN = '# semaphore link: begin';
const END = '# semaphore link: end';

/** The mirror namespace of what `semaphore link` writes. */
const NAMESPACE = 'sys-semaphore';

/**
 * A Corefile with our rules for names of Services of the remotes and of global Services, each in the server block that gets
 * them. If that doesn't serve the cluster's own names, they get a server block of their own, which asks the one that does.
 * Rules of ours that are there already are replaced. If nothing would change for CoreDNS, the text stays.
 *
 * @param mcs it also has a zone for ServiceImports
 * @returns a reason if there is no place for the rules, or if something else in the Corefile keeps them from working
 */
export function corefileWith(
  text: string,
  { remotes, mcs = false }: { readonly remotes: readonly string[]; readonly mcs?: boolean },
): Parsed<string> {
  const zones = [...remotes.toSorted().map((name) => ({ name, prefix: name })), GLOBAL];
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
  const faults = zones.map((each) => faultOf(after.value, sampleOf(each, NAMESPACE)));
  const problem = faults.find((fault) => fault?.severity === 'problem');
  if (problem !== undefined) return { ok: false, reason: problem.sentence };
  return meaningOf(before.value) === meaningOf(after.value) ? { ok: true, value: text } : placed;
}

/** A Corefile without our rules for some clusters. Without a remote, it has nothing of ours. */
export function corefileWithout(
  text: string,
  { removed, remaining }: { readonly removed: readonly string[]; readonly remaining: readonly string[] },
): Parsed<string> {
  const before = parseCorefile(text);
  if (!before.ok) return text.includes('73736d') ? before : { ok: true, value: text };
  return {
    ok: true,
    value: without(before.value, ({ names }) =>
      remaining.length === 0 ? 'all' : (names ?? []).filter((name) => removed.includes(name)),
    ),
  };
}

/** What CoreDNS reads: the order of server blocks means nothing to it. */
const meaningOf = ({ blocks, files }: Corefile): string =>
  JSON.stringify([
    files,
    blocks
      .map(({ keys, directives, files: ofBlock }) =>
        JSON.stringify([
          keys.map(({ text }) => text),
          ofBlock,
          directives.map(({ name, args, lines }) => [name, args, lines]),
        ]),
      )
      .toSorted(),
  ]);

type Edit = Span & { readonly text: string };

/** @param goneOf which names of a part go; with `all`, the part goes */
function without(corefile: Corefile, goneOf: (ours: Ours, isMarked: boolean) => 'all' | readonly string[]): string {
  const { text } = corefile;
  const marks = marksIn(text);
  const isIn = ({ start, end }: Span, span: Span): boolean => start >= span.start && end <= span.end;
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

/** Whole lines, if nothing else is on them. */
function linesOf(text: string, { start, end }: Span): Span {
  let [first, last] = [start, end];
  while (' \t'.includes(text[first - 1] ?? '\n')) first -= 1;
  if (!'\n\uFEFF'.includes(text[first - 1] ?? '\n')) return { start, end };
  while (' \t\r'.includes(text[last] ?? '\n')) last += 1;
  if (last < text.length && text[last] !== '\n') return { start: first, end };
  return { start: first, end: Math.min(last + 1, text.length) };
}

/** With an empty line after it, if another program put one between server blocks. */
function blockLinesOf(text: string, span: Span): Span {
  const { start, end } = linesOf(text, span);
  const isFirst = start === 0 || text.startsWith('\n\n', start - 2);
  return { start, end: isFirst && text[end] === '\n' ? end + 1 : end };
}

function edited(text: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text: instead } of edits.toSorted((a, b) => a.start - b.start)) {
    parts.push(text.slice(at, start), instead);
    at = end;
  }
  return [...parts, text.slice(at)].join('');
}

type Marked = Span & { readonly lines: readonly Span[] };

/** What is between our two comments, and these. */
function marksIn(text: string): readonly Marked[] {
  const marked: Marked[] = [];
  let begin: Span | undefined;
  for (const { 0: line, 1: mark, index: start } of text.matchAll(
    /^[ \t]*# semaphore link: (begin|end)[ \t\r]*$\n?/gm,
  )) {
    const span = { start, end: start + line.length };
    if (mark === 'begin') begin = span;
    else if (begin !== undefined) {
      marked.push({ start: begin.end, end: start, lines: [begin, span] });
      begin = undefined;
    }
  }
  return marked;
}

/** Adds rules to a Corefile that has none of ours for these names. */
function place(corefile: Corefile, zones: readonly Names[], mcs: boolean): Parsed<string> {
  const { text, blocks } = corefile;
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
  const hasImports = blocks.some((block) => zonesOf(block).some(({ name }) => name === 'clusterset.local.'));
  const imports = mcs && !hasImports ? importsBlock(port) : '';
  const added = own.length > 0 ? imports + ownBlock(own, target, port) : imports;
  const start = text.startsWith('\uFEFF') ? 1 : 0;
  if (added !== '') edits.push({ start, end: start, text: `${BEGIN}\n${added}${END}\n` });
  return { ok: true, value: edited(text, edits) };
}

function ownBlock(names: readonly Names[], target: Target, port: number): string {
  const keys = names.map(({ name }) => `${zoneOf(name).slice(0, -1)}:${port}`).join(' ');
  const lines = ['errors', ...names.flatMap((each) => rulesOf(each, target)), ...restOf(target.domain, port)];
  return `${keys} {\n${lines.map((line) => `    ${line}\n`).join('')}}\n`;
}

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
