import { isDeeper } from '@kube-semaphore/kube-objects';
import { bad, good, type Parsed } from '@kube-semaphore/net';
import { nearest, parseDuration } from '@kube-semaphore/options';
import { parseYaml } from '@kube-semaphore/text';
import type * as z from 'zod/mini';
import english from 'zod/v4/locales/en.js';

/** A file that was understood, or every problem with the path to its field. */
export type ParsedFile<T> =
  | { readonly ok: true; readonly value: T; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

type FileRules = {
  /**
   * What a key is that the schema doesn't have. In a format of our own an error. In one that Go programs read, which pass
   * over them, a warning, unless it is like one of the schema: a misspelled `allowedPodCIDRs` must not be an open door.
   */
  readonly unknownKeys: 'error' | 'warning';
  /** Makes of what the file holds what the schema describes; `goDocument` for files of Go programs. */
  readonly prepare?: (document: unknown) => unknown;
};

/** Four hundred remotes have as many. What is wrong between two remotes is looked for in all pairs of them. */
const MOST_BYTES = 128 * 1024;

/** zod/mini has no sentences of its own, and all languages together would be a lot to load. */
const IN_WORDS = { error: english().localeError };

/**
 * Reads a config file, YAML or JSON.
 *
 * @param schema of strict objects
 */
export function parseConfigFile<T>(
  source: string,
  schema: z.ZodMiniType<T>,
  { unknownKeys, prepare = (document) => document }: FileRules,
): ParsedFile<T> {
  const bytes = Buffer.byteLength(source);
  if (bytes > MOST_BYTES) return { ok: false, problems: [`it has ${bytes} bytes, at most ${MOST_BYTES} are allowed`] };
  const read = readDocument(source);
  if (!read.ok) return { ok: false, problems: [read.reason] };
  const document = prepare(read.value);
  const keys = new Set(keysOf(schema));
  const parsed = schema.safeParse(document, IN_WORDS);
  if (parsed.success) return { ok: true, value: parsed.data, warnings: [] };
  const { issues } = parsed.error;
  const passed =
    unknownKeys === 'warning'
      ? issues
          .filter(isUnknownKeys)
          .map((issue) => ({ ...issue, keys: issue.keys.filter((key) => meantBy(key, keys) === undefined) }))
      : [];
  for (const { path, keys: dropped } of passed) for (const key of dropped) dropKey(document, path, key);
  const again = passed.length === 0 ? parsed : schema.safeParse(document, IN_WORDS);
  if (again.success)
    return { ok: true, value: again.data, warnings: passed.flatMap((issue) => problemsOf(issue, keys)) };
  return { ok: false, problems: again.error.issues.flatMap((issue) => problemsOf(issue, keys)) };
}

/** What a text says: it is told in the words of the format that it seems to have. */
function readDocument(source: string): Parsed<unknown> {
  let problem: string | undefined;
  if (/^\s*[{[]/.test(source)) {
    try {
      return shallow(JSON.parse(source));
    } catch (error) {
      // It may be YAML nevertheless, which has such lists and maps, and comments besides.
      problem = `it is not JSON: ${jsonProblem((error as Error).message, source)}`;
    }
  }
  const document = parseYaml(source);
  if (document.ok) return document.value === null ? bad('it is empty') : shallow(document.value);
  const { message, place } = document.problem;
  return bad(
    problem ??
      `it is not YAML: ${message}${place === undefined ? '' : ` at line ${place.line}, column ${place.column}`}`,
  );
}

/** More than any of our files has. What reads a document recurses. */
const DEEPEST = 32;

function shallow(document: unknown): Parsed<unknown> {
  if (!isDeeper(document, DEEPEST)) return good(document);
  return bad(isEndless(document) ? 'it is not YAML: an alias leads to what contains it' : 'it is nested too deeply');
}

/** V8's words with a line for its position, and without the text that it quotes. */
function jsonProblem(message: string, source: string): string {
  const words = message.replace(/ in JSON at position .*| after JSON at position .*|, (\.\.\.)?".*/s, '');
  const position = / at position (\d+)/.exec(message)?.[1];
  if (position === undefined) return words;
  const lines = source.slice(0, Number(position)).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}: ${words}`;
}

/** Whether an alias leads to what it is in: nothing that walks such a document comes to an end. */
function isEndless(document: unknown): boolean {
  try {
    JSON.stringify(document);
    return false;
  } catch (error) {
    // A circle is a TypeError; what is too deep for it has no end that matters either, but is none.
    return error instanceof TypeError;
  }
}

/** The keys of all objects in a schema, however deep. */
export function keysOf(schema: z.core.$ZodType): readonly string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      return Object.entries(def.shape).flatMap(([key, field]) => [key, ...keysOf(field)]);
    case 'array':
      return keysOf(def.element);
    case 'optional':
      return keysOf(def.innerType);
    case 'union':
      return def.options.flatMap(keysOf);
    default:
      return [];
  }
}

/** A duration as Go's JSON has it: a text, or a number of nanoseconds. @returns milliseconds */
export function durationOf(value: string | number): Parsed<number> {
  if (typeof value === 'string') return parseDuration(value);
  return Number.isFinite(value) ? good(value / 1e6) : bad(`${value} is not a number of nanoseconds`);
}

type UnknownKeys = Extract<z.core.$ZodIssue, { code: 'unrecognized_keys' }>;

const isUnknownKeys = (issue: z.core.$ZodIssue): issue is UnknownKeys => issue.code === 'unrecognized_keys';

/** A field that may be one thing or another is none of them: what is inside of it says more than that, if there is anything. */
function problemsOf(issue: z.core.$ZodIssue, keys: ReadonlySet<string>): readonly string[] {
  const inside = issue.code === 'invalid_union' ? issue.errors.flat().filter(({ path }) => path.length > 0) : [];
  if (inside.length > 0)
    return inside.flatMap((nested) => problemsOf({ ...nested, path: [...issue.path, ...nested.path] }, keys));
  const where = placeOf(issue.path);
  return isUnknownKeys(issue)
    ? issue.keys.map((key) => `${where}: ${unknownKey(key, keys)}`)
    : [`${where}: ${issue.message}`];
}

/** `remotes[0].name` */
function placeOf(path: readonly PropertyKey[]): string {
  const field = path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
  return field === '' ? 'the file' : field;
}

function unknownKey(key: string, keys: ReadonlySet<string>): string {
  const meant = meantBy(key, keys);
  if (meant === key) return `the key ${key} belongs in another section`;
  return `unknown key ${key}${meant === undefined ? '' : `, did you mean ${meant}?`}`;
}

/** The key that an unknown one is like: misspelled, or in the wrong place. */
const meantBy = (key: string, keys: ReadonlySet<string>): string | undefined =>
  keys.has(key) ? key : nearest(key, keys);

function dropKey(document: unknown, path: readonly PropertyKey[], key: string): void {
  const owner = path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown>)[part], document);
  delete (owner as Record<string, unknown>)[key];
}
