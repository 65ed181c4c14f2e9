import { isDeeper } from '@kube-semaphore/kube-objects';
import { bad, good, type Parsed } from '@kube-semaphore/net';
import { nearest, parseDuration } from '@kube-semaphore/options';
import { parseYaml } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import english from 'zod/v4/locales/en.js';
import { goDocument } from './go-document.ts';

/** A valid file, or every problem with the path to its field. */
export type ParsedFile<T> =
  | { readonly ok: true; readonly value: T; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

type FileRules = {
  /**
   * `error` for a format of our own. `warning` for one that Go programs read: it is read as they do, in any case of its
   * keys, and unknown keys are ignored. A key that is like one of the schema is still an error: a misspelled
   * `allowedPodCIDRs` must not open a door.
   */
  readonly unknownKeys: 'error' | 'warning';
};

/** Enough for four hundred remotes. Some checks compare all pairs of remotes. */
const MOST_BYTES = 128 * 1024;

/** zod/mini has no error messages, and all languages together would need much memory. */
const IN_ENGLISH = { error: english().localeError };

/**
 * Reads a config file, YAML or JSON.
 *
 * @param schema of strict objects
 */
export function parseConfigFile<T>(
  source: string,
  schema: z.ZodMiniType<T>,
  { unknownKeys }: FileRules,
): ParsedFile<T> {
  const bytes = Buffer.byteLength(source);
  if (bytes > MOST_BYTES) return { ok: false, problems: [`it has ${bytes} bytes, at most ${MOST_BYTES} are allowed`] };
  const read = readDocument(source);
  if (!read.ok) return { ok: false, problems: [read.reason] };
  const keys = new Set(keysOf(schema));
  const isGo = unknownKeys === 'warning';
  const document = isGo ? goDocument(read.value, [...keys]) : read.value;
  const warnings: string[] = [];
  let parsed = schema.safeParse(document, IN_ENGLISH);
  if (isGo && !parsed.success) {
    for (const { path, keys: unknown } of parsed.error.issues.filter(isUnknownKeys))
      for (const key of unknown.filter((each) => meantBy(each, keys) === undefined)) {
        dropKey(document, path, key);
        warnings.push(`${placeOf(path)}: ${unknownKey(key, keys)}`);
      }
    if (warnings.length > 0) parsed = schema.safeParse(document, IN_ENGLISH);
  }
  return parsed.success
    ? { ok: true, value: parsed.data, warnings }
    : { ok: false, problems: parsed.error.issues.flatMap((issue) => problemsOf(issue, keys)) };
}

/** Reads JSON or YAML. The reason uses the words of the format that the text seems to have. */
function readDocument(source: string): Parsed<unknown> {
  let problem: string | undefined;
  if (/^\s*[{[]/.test(source)) {
    try {
      return shallow(JSON.parse(source));
    } catch (error) {
      // It may be YAML, which has such lists and maps, and also comments.
      problem = `it is not JSON: ${jsonProblem((error as Error).message, source)}`;
    }
  }
  const document = parseYaml(source);
  if (document.ok) return document.value === null ? bad('it is empty') : shallow(document.value);
  const { message, place } = document.problem;
  const at = place === undefined ? '' : ` at line ${place.line}, column ${place.column}`;
  return bad(problem ?? `it is not YAML: ${message}${at}`);
}

/** More than any of our files needs. The readers of a document recurse. */
const DEEPEST = 32;

function shallow(document: unknown): Parsed<unknown> {
  if (!isDeeper(document, DEEPEST)) return good(document);
  return bad(isCircular(document) ? 'it is not YAML: an alias leads to what contains it' : 'it is nested too deeply');
}

/** V8's message with a line for its position, and without the text that it quotes. */
function jsonProblem(message: string, source: string): string {
  const words = message.replace(/ in JSON at position .*| after JSON at position .*|, (\.\.\.)?".*/s, '');
  const position = / at position (\d+)/.exec(message)?.[1];
  if (position === undefined) return words;
  const lines = source.slice(0, Number(position)).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}: ${words}`;
}

/** Whether an alias leads to what contains it. */
function isCircular(document: unknown): boolean {
  try {
    JSON.stringify(document);
    return false;
  } catch (error) {
    // A circle is a TypeError; a document that is too deep for the stack is a RangeError.
    return error instanceof TypeError;
  }
}

/** The keys of all objects in a schema, at any depth. */
function keysOf(schema: z.core.$ZodType): readonly string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      return Object.entries(def.shape).flatMap(([key, field]) => [key, ...keysOf(field)]);
    case 'array':
      return keysOf(def.element);
    case 'optional':
    case 'default':
      return keysOf(def.innerType);
    case 'union':
      return def.options.flatMap(keysOf);
    default:
      return [];
  }
}

/** A duration as Go's JSON has it: a text like `1h`, or a number of nanoseconds. `durationOf` reads it. */
export const durationField = z.optional(
  z.union([z.string(), z.number()], 'it is neither a text like "1h" nor a number of nanoseconds'),
);

/** Reads a `durationField`. An empty text is the same as none, as in other fields. @returns milliseconds, not negative */
export function durationOf(value: string | number | undefined, absentMs: number): Parsed<number> {
  if (value === undefined || value === '') return good(absentMs);
  const parsed = typeof value === 'string' ? parseDuration(value) : nanoseconds(value);
  return parsed.ok && parsed.value < 0 ? bad('it must not be negative') : parsed;
}

const nanoseconds = (value: number): Parsed<number> =>
  Number.isFinite(value) ? good(value / 1e6) : bad(`${value} is not a number of nanoseconds`);

type UnknownKeys = Extract<z.core.$ZodIssue, { code: 'unrecognized_keys' }>;

const isUnknownKeys = (issue: z.core.$ZodIssue): issue is UnknownKeys => issue.code === 'unrecognized_keys';

/** For a failed union, the nested issues if there are any, as they say more. */
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
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  return parts.join('').replace(/^\./, '') || 'the file';
}

function unknownKey(key: string, keys: ReadonlySet<string>): string {
  const meant = meantBy(key, keys);
  if (meant === key) return `the key ${key} belongs in another section`;
  return `unknown key ${key}${meant === undefined ? '' : `, did you mean ${meant}?`}`;
}

/** The known key that an unknown one is like: misspelled, or in the wrong place. */
const meantBy = (key: string, keys: ReadonlySet<string>): string | undefined =>
  keys.has(key) ? key : nearest(key, keys);

function dropKey(document: unknown, path: readonly PropertyKey[], key: string): void {
  const owner = path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown>)[part], document);
  delete (owner as Record<string, unknown>)[key];
}
