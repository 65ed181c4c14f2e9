import { cut, MAX_TEXT } from '@kube-semaphore/text';
import { errorFields } from './log/error-fields.ts';

/** Facts of a log line. An Error in any of them is written with its code and its causes. */
export type LogFields = Readonly<Record<string, unknown>>;

/** What all texts of a line may come to, and what each element counts for besides. */
const MAX_LINE = 8 * 1024;
const ELEMENT = 8;

/** Deeper than any chain of causes that `errorFields` follows. */
const MAX_DEPTH = 12;

/** Some ten frames, below a message that stands beside it in full. */
const MAX_STACK = 4 * 1024;

/** How much of a text is looked at: what is cut off anyway may hold the end of a credential that begins before it. */
const READ = 2;

type Walk = { readonly strip: (text: string) => string; left: number };

/**
 * Facts as a line can hold them, whoever wrote them: errors as plain fields, each text cut to 1,024 code units, and
 * all of them together to 8,192. What is beyond that, or nested too deep, is `…`.
 *
 * @param strip takes our own credentials out of a text
 */
export function boundedFields(fields: LogFields, strip: (text: string) => string): Record<string, unknown> {
  return boundedObject(fields, { strip, left: MAX_LINE }, MAX_DEPTH);
}

function bounded(value: unknown, walk: Walk, depth: number, max = MAX_TEXT): unknown {
  walk.left -= ELEMENT;
  if (typeof value === 'string') return boundedText(value, walk, max);
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
  const kept: unknown[] = [];
  for (const value of values) {
    if (walk.left <= 0) return [...kept, '…'];
    kept.push(bounded(value, walk, depth));
  }
  return kept;
}

function boundedObject(object: object, walk: Walk, depth: number): Record<string, unknown> {
  const kept: [string, unknown][] = [];
  for (const [name, value] of Object.entries(object)) {
    if (walk.left <= 0) return Object.fromEntries([...kept, ['…', '…']]);
    kept.push([
      boundedText(name, walk, MAX_TEXT),
      bounded(value, walk, depth, name === 'stack' ? MAX_STACK : MAX_TEXT),
    ]);
  }
  return Object.fromEntries(kept);
}
