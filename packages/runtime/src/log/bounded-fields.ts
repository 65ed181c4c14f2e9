import { cut, MAX_TEXT } from '@kube-semaphore/text';
import { errorFields } from './error-fields.ts';

/** Fields of a log line. An Error in any of them is written with its code and its causes. */
export type LogFields = Readonly<Record<string, unknown>>;

/** The maximum of all texts of a line together, and what each element costs besides its text. */
const MAX_LINE = 8 * 1024;
const ELEMENT = 8;

/** Deeper than any chain of causes that `errorFields` follows. */
const MAX_DEPTH = 12;

/** Some ten frames; the message is in a field of its own. */
const MAX_STACK = 4 * 1024;

/** A credential may begin before the cut and end after it, so twice the text is read before credentials are stripped. */
const READ = 2;

/** Names of fields that are never written. */
const SECRETS = new Set(['token', 'authorization', 'Authorization', 'password', 'privateKey', 'presharedKey']);

type Walk = { readonly strip: (text: string) => string; left: number };

/**
 * Fields that fit into a line: errors as plain fields, each text cut to 1,024 code units, and all together to 8,192. The
 * rest, and what is nested too deep, is `…`. Fields that name a secret are `[Redacted]`.
 *
 * @param strip removes our own credentials from a text
 */
export function boundedFields(fields: LogFields, strip: (text: string) => string): Record<string, unknown> {
  return boundedObject(fields, { strip, left: MAX_LINE }, MAX_DEPTH);
}

function bounded(value: unknown, walk: Walk, depth: number, max = MAX_TEXT): unknown {
  walk.left -= ELEMENT;
  if (typeof value === 'string') return boundedText(value, walk, max);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '…';
  if (value instanceof Error) return boundedObject(errorFields(value), walk, depth);
  if (Array.isArray(value)) return boundedArray(value, walk, depth - 1);
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === 'function'
    ? bounded(toJSON.call(value), walk, depth - 1, max)
    : boundedObject(value, walk, depth - 1);
}

function boundedText(text: string, walk: Walk, max: number): string {
  const short = cut(walk.strip(cut(text, READ * max)), Math.max(1, Math.min(max, walk.left)));
  walk.left -= short.length;
  return short;
}

function boundedArray(values: readonly unknown[], walk: Walk, depth: number): unknown[] {
  const short: unknown[] = [];
  for (const value of values) {
    if (walk.left <= 0) return [...short, '…'];
    short.push(bounded(value, walk, depth));
  }
  return short;
}

function boundedObject(object: object, walk: Walk, depth: number): Record<string, unknown> {
  const short: [string, unknown][] = [];
  for (const [name, value] of Object.entries(object)) {
    if (walk.left <= 0) return Object.fromEntries([...short, ['…', '…']]);
    const max = name === 'stack' ? MAX_STACK : MAX_TEXT;
    const text = SECRETS.has(name) ? '[Redacted]' : bounded(value, walk, depth, max);
    short.push([boundedText(name, walk, MAX_TEXT), text]);
  }
  return Object.fromEntries(short);
}
