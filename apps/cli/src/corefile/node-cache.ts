import type { Parsed } from '@kube-semaphore/net';
import { type Corefile, type Directive, parseCorefile, type ServerBlock } from './parse.ts';
import { blockText, isGone, type Left, namesToSend, ownNamesOf, type Wanted, zoneOf } from './rules.ts';
import { BEGIN, blockLinesOf, type Edit, edited, END, isIn, marksIn, meaningOf } from './text.ts';
import { blockName } from './faults.ts';
import { blockFor, dnsPort } from './zones.ts';

/**
 * The Corefile of a NodeLocal DNSCache that asks the cluster's DNS server for our zones, as it does for the cluster's own
 * names. Zones of other clusters stay, unless they are between our comments.
 *
 * @returns a reason if it has no server block for these
 */
export function nodeCacheWith(text: string, wanted: Wanted, domain = 'cluster.local.'): Parsed<string> {
  const before = parseCorefile(text);
  if (!before.ok) return before;
  const names = namesToSend(wanted).map(({ name }) => name);
  const marks = marksIn(text);
  const present = before.value.blocks
    .filter((block) => isSender(block) && !marks.some((mark) => isIn(block.span, mark)))
    .flatMap((block) => ownNamesOf(block).map((name) => name!));
  const all = [...new Set([...names, ...present])].toSorted();
  const others = parseCorefile(withoutSenders(before.value, () => true));
  if (!others.ok) return others;
  const port = dnsPort(others.value);
  const model = blockFor(others.value, `svc.${domain}`, port);
  if (model === undefined) return { ok: false, reason: `no server block gets names in ${domain}` };
  // One that gets all names needs no more.
  const missing = all.filter((name) => blockFor(others.value, zoneOf(name), port) !== model);
  const copied = model.directives.filter(({ name }) => SENDING.includes(name));
  if (!copied.some(({ name }) => name === 'forward'))
    return { ok: false, reason: `${blockName(model)} has no "forward"` };
  if (missing.length === 0) return { ok: true, value: others.value.text };
  const lines = copied.flatMap((directive) => linesIn(directive, others.value.text));
  const added = blockText(
    missing.map((name) => ({ name })),
    port,
    lines,
  );
  const after = `${others.value.text.replace(/\n*$/, '\n')}${BEGIN}\n${added}${END}\n`;
  const parsed = parseCorefile(after);
  if (!parsed.ok) return parsed;
  return { ok: true, value: meaningOf(parsed.value) === meaningOf(before.value) ? text : after };
}

/** The same without some zones. Without a remote, it has none of ours. */
export function nodeCacheWithout(text: string, left: Left): Parsed<string> {
  const parsed = parseCorefile(text);
  if (!parsed.ok) return parsed;
  return { ok: true, value: withoutSenders(parsed.value, (name) => isGone(left, name)) };
}

/** The text of a directive, with the indentation that it needs. */
const linesIn = ({ span: { start, end } }: Directive, text: string): readonly string[] =>
  text
    .slice(start, end)
    .split('\n')
    .map((line, i) => (i === 0 || line.trim() === '}' ? line.trim() : `    ${line.trim()}`));

/** What a server block of our zones has, like the one of the cluster's names. `health` may be in one block only. */
const SENDING = ['errors', 'cache', 'bind', 'forward', 'prometheus'];

/** Whether a server block sends zones of ours elsewhere, and does nothing else. */
const isSender = (block: ServerBlock): boolean =>
  !block.isImported &&
  ownNamesOf(block).every((name) => name !== undefined) &&
  block.directives.some(({ name }) => name === 'forward') &&
  block.directives.every(({ name }) => SENDING.includes(name));

function withoutSenders({ text, blocks }: Corefile, isGone: (name: string) => boolean): string {
  const marks = marksIn(text);
  const edits = blocks.filter(isSender).flatMap((block): readonly Edit[] => {
    const names = ownNamesOf(block).map((name) => name!);
    const { span, keys } = block;
    if (!names.every(isGone)) {
      const left = keys.filter((_, i) => !isGone(names[i]!)).map((key) => key.text);
      return [{ start: keys[0]!.start, end: keys.at(-1)!.end, text: left.join(' ') }];
    }
    const around = marks.filter((mark) => isIn(span, mark)).flatMap(({ lines }) => lines);
    return [blockLinesOf(text, span), ...around].map((each) => ({ ...each, text: '' }));
  });
  return edited(text, edits);
}
