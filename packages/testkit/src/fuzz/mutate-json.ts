import type { Dice } from '@kube-semaphore/fault-proxy';
import { mutateBytes, type Mutator } from './mutate.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A value of a document: where it starts and ends, and its key, if it is in an object and not in a list. */
type Part = { readonly start: number; readonly end: number; readonly key: Range | undefined };
type Range = { readonly start: number; readonly end: number };

/** A document as text of one byte per character, so that places of characters are those of bytes. */
type Document = { readonly text: string; readonly parts: readonly Part[] };

/** Replacements for values and for texts. */
const VALUES: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1,
  65_536,
  2 ** 31,
  2 ** 53,
  1e308,
  0.5,
  '',
  'a',
  '-',
  '.',
  'A.b',
  '\u0000',
  '\u202e\n',
  '\ud800',
  '__proto__',
  'true',
  '10.0.0.0/8',
  '10.0.0.1',
  '127.0.0.1',
  '::1',
  'fd00::/8',
  '0.0.0.0/0',
  '1h',
  '[::]:0',
  'IPv6',
  'a=b,c in (d)',
  'None',
  {},
  [],
  [[]],
  [{}],
  { a: {} },
  { toString: 1 },
  65_535,
];

const latin1 = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('latin1');
const VALUE_TEXTS = VALUES.map(latin1);
const KEYS = ['"__proto__"', '"constructor"', '"a"'];

/**
 * Replaces, removes, moves and repeats values of a document. Seven of eight results of JSON are still JSON. It changes the text
 * in place: parsing and writing JSON takes many times as long as most functions take to read it.
 */
export const mutateJson: Mutator = (seed, dice, bytes) => {
  const changed = changedIn(documentOf(seed), dice);
  const input = Buffer.from(bytes === 0 ? changed : amplified(parsed(changed), dice, bytes), 'latin1');
  // Bytes are changed last, so that the document is the same in any size.
  return dice.integer(0, 7) === 0 ? mutateBytes(input, dice, 0) : input;
};

const documents = new WeakMap<Buffer, Document>();

function documentOf(seed: Buffer): Document {
  const known = documents.get(seed);
  if (known !== undefined) return known;
  const document = parsed(seed.toString('latin1'));
  documents.set(seed, document);
  return document;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;

/** The values of a text, at least one: in a text that isn't JSON, those before and after its fault. */
function parsed(text: string): Document {
  const parts: Part[] = [{ start: 0, end: text.length, key: undefined }];
  const open: { readonly start: number; readonly key: Range | undefined }[] = [];
  let before: Range | undefined;
  let key: Range | undefined;
  const add = (part: Part): void => {
    if (open.length > 0) parts.push(part);
    key = undefined;
  };
  for (const { 0: token, index: start } of text.matchAll(TOKEN)) {
    const end = start + token.length;
    if (token === '{' || token === '[') {
      open.push({ start, key });
      key = undefined;
    } else if (token === '}' || token === ']') {
      const opened = open.pop();
      if (opened !== undefined) add({ ...opened, end });
    } else if (token === ':') {
      // What was a value is its key.
      key = before;
      if (parts.length > 1) parts.pop();
    } else if (token !== ',') add({ start, end, key });
    before = { start, end };
  }
  return { text, parts };
}

/** The text with up to three of its values changed. */
function changedIn({ text, parts }: Document, dice: Dice): string {
  const places = Array.from({ length: dice.integer(0, 3) }, () => dice.pick(parts)).toSorted(
    (a, b) => b.start - a.start,
  );
  let changed = text;
  let until = Infinity;
  for (const place of places) {
    // From the last to the first, and none within another, so that all places stay right.
    if (place.end > until) continue;
    until = place.key?.start ?? place.start;
    changed = changedAt(changed, { place, text, parts }, dice);
  }
  return changed;
}

function changedAt(to: string, { place, text, parts }: Document & { readonly place: Part }, dice: Dice): string {
  const { start, end, key } = place;
  const put = (value: string): string => to.slice(0, start) + value + to.slice(end);
  const found = text.slice(start, end);
  const other = dice.pick(parts);
  switch (dice.integer(0, 5)) {
    case 0:
      return removed(to, place);
    case 1:
      return put(text.slice(other.start, other.end));
    case 2:
      if (key === undefined) return put(`${found},${found}`);
      return (
        to.slice(0, key.start) +
        dice.pick([...KEYS, text.slice(other.key?.start ?? key.start, other.key?.end ?? key.end)]) +
        to.slice(key.end)
      );
    case 3:
      if (found.startsWith('"')) return put(changedText(found, dice));
      if (/^-?\d/.test(found)) return put(dice.pick([`-${found}`, `${found}1`, `${found}000`]));
  }
  return put(dice.pick(VALUE_TEXTS));
}

function changedText(quoted: string, dice: Dice): string {
  const text = quoted.slice(1, -1);
  const value = dice.pick(VALUE_TEXTS);
  const escaped = value.startsWith('"') ? value.slice(1, -1) : value.replaceAll('"', '\\"');
  return `"${dice.pick([text.toUpperCase(), `${text}${escaped}`, text.slice(1), `${text}${text}`])}"`;
}

/** Without a value, its key, and one comma beside it. */
function removed(text: string, { start, end, key }: Part): string {
  const from = key?.start ?? start;
  if (text[end] === ',') return text.slice(0, from) + text.slice(end + 1);
  return text.slice(0, text[from - 1] === ',' ? from - 1 : from) + text.slice(end);
}

/** The text with one value repeated, lengthened or nested until it has `bytes` bytes. */
function amplified({ text, parts }: Document, dice: Dice, bytes: number): string {
  const inLists = parts.filter(({ key, start }) => key === undefined && start > 0);
  // Most of what grows is a list.
  const place = dice.pick(inLists.length > 0 && dice.integer(0, 1) === 0 ? inLists : parts);
  const found = text.slice(place.start, place.end);
  const value = dice.pick([found, found, dice.pick(VALUE_TEXTS)]);
  const how = dice.pick(['often', 'often', 'often', 'differing', 'differing', 'long', 'deep'] as const);
  const differing = dice.pick([...(value.match(/"[^"\\]+"/g) ?? ['no text'])]);
  const key = place.key === undefined ? undefined : text.slice(place.key.start, place.key.end);
  const many = repeated({ text: value, differing, bytes, how, key });
  return text.slice(0, place.start) + many + text.slice(place.end);
}

type Repeated = {
  readonly text: string;
  /** A part that differs in each copy. */
  readonly differing: string;
  readonly bytes: number;
  readonly how: 'often' | 'differing' | 'long' | 'deep';
  readonly key: string | undefined;
};

function repeated({ text, differing, bytes, how, key }: Repeated): string {
  const times = (length: number): number => Math.ceil(bytes / length);
  if (how === 'long') return JSON.stringify(text.repeat(times(text.length)));
  if (how === 'deep') return `${'['.repeat(times(2))}${text}${']'.repeat(times(2))}`;
  const copy = (i: number): string =>
    how === 'differing' ? text.replace(differing, `${differing.slice(0, -1)}${i}"`) : text;
  if (key === undefined) return Array.from({ length: times(copy(1_000).length + 1) }, (_, i) => copy(i)).join(',');
  const entry = (i: number): string => `${key.slice(0, -1)}${i}":${copy(i)}`;
  return [text, ...Array.from({ length: times(entry(1_000).length + 1) }, (_, i) => entry(i))].join(',');
}
