import { bad, good, type Parsed } from '@kube-semaphore/net';
import { parseDuration } from '@kube-semaphore/options';
import { parse } from 'yaml';
import type * as z from 'zod/mini';
import english from 'zod/v4/locales/en.js';

/** A file that was understood, or every problem with the path to its field. */
export type ParsedFile<T> =
  | { readonly ok: true; readonly value: T; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

type FileRules = {
  /**
   * What a key is that the schema doesn't have. In a format of our own an error: a misspelled `allowedPodCIDRs` must not
   * be an open door. In one that Go programs read, which pass over them, a warning.
   */
  readonly unknownKeys: 'error' | 'warning';
  /** Makes of what the file holds what the schema describes; `goDocument` for files of Go programs. */
  readonly prepare?: (document: unknown) => unknown;
};

/** zod/mini has no sentences of its own, and all languages together would be a lot to load. */
const IN_WORDS = { error: english().localeError };

/**
 * Reads a config file, YAML or JSON.
 *
 * @param schema of strict objects
 */
export function parseConfigFile<T>(source: string, schema: z.ZodMiniType<T>, { unknownKeys, prepare = (document) => document }: FileRules): ParsedFile<T> {
  let document: unknown;
  try {
    document = parse(source);
    // An alias may lead to what it is in, and nothing that walks such a document comes to an end.
    JSON.stringify(document);
  } catch (error) {
    return { ok: false, problems: [`it is neither YAML nor JSON: ${(error as Error).message.split('\n')[0]}`] };
  }
  document = prepare(document);
  const parsed = schema.safeParse(document, IN_WORDS);
  if (parsed.success) return { ok: true, value: parsed.data, warnings: [] };
  const { issues } = parsed.error;
  if (unknownKeys === 'error' || issues.every(({ code }) => code !== 'unrecognized_keys')) return { ok: false, problems: issues.flatMap(problemsOf) };
  const [unknown, others] = [issues.filter(isUnknownKeys), issues.filter((issue) => !isUnknownKeys(issue))];
  if (others.length > 0) return { ok: false, problems: others.flatMap(problemsOf) };
  for (const { path, keys } of unknown) for (const key of keys) dropKey(document, path, key);
  const again = schema.safeParse(document, IN_WORDS);
  if (again.success) return { ok: true, value: again.data, warnings: unknown.map(problemOf) };
  return { ok: false, problems: again.error.issues.flatMap(problemsOf) };
}

/** A duration as Go's JSON has it: a text, or a number of nanoseconds. @returns milliseconds */
export function durationOf(value: string | number): Parsed<number> {
  if (typeof value === 'string') return parseDuration(value);
  return Number.isFinite(value) ? good(value / 1e6) : bad(`${value} is not a number of nanoseconds`);
}

type UnknownKeys = Extract<z.core.$ZodIssue, { code: 'unrecognized_keys' }>;

const isUnknownKeys = (issue: z.core.$ZodIssue): issue is UnknownKeys => issue.code === 'unrecognized_keys';

/** A field that may be one thing or another is none of them: what is inside of it says more than that, if there is anything. */
function problemsOf(issue: z.core.$ZodIssue): readonly string[] {
  const inside = issue.code === 'invalid_union' ? issue.errors.flat().filter(({ path }) => path.length > 0) : [];
  return inside.length === 0 ? [problemOf(issue)] : inside.flatMap((nested) => problemsOf({ ...nested, path: [...issue.path, ...nested.path] }));
}

function problemOf(issue: z.core.$ZodIssue): string {
  const field = issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('').replace(/^\./, '');
  const where = field === '' ? 'the file' : field;
  return isUnknownKeys(issue) ? `${where} has unknown keys: ${issue.keys.join(', ')}` : `${where}: ${issue.message}`;
}

function dropKey(document: unknown, path: readonly PropertyKey[], key: string): void {
  const owner = path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown>)[part], document);
  delete (owner as Record<string, unknown>)[key];
}
