import { bad, good, type Parsed } from '@kube-semaphore/net';

/** An object in the output of `ip -json`, with unchecked fields. */
export type Entry = Readonly<Record<string, unknown>>;

/**
 * Reads the output of `ip -json`: a list of objects, or nothing. Some versions of iproute2 write an empty object for each entry
 * that a filter removed.
 *
 * @returns what `parse` makes of each object, in order, or the first thing that is wrong
 */
export function parseEntries<T>(text: string, parse: (entry: Entry) => Parsed<T>): Parsed<readonly T[]> {
  if (text.trim() === '') return good([]);
  const value = parseJson(text);
  if (!Array.isArray(value) || !value.every(isEntry)) return bad('not a JSON list of objects');
  const parsed: T[] = [];
  for (const entry of value.filter((candidate) => Object.keys(candidate).length > 0)) {
    const result = parse(entry);
    if (!result.ok) return result;
    parsed.push(result.value);
  }
  return good(parsed);
}

/** Whether a value is an object with fields. */
export function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not a list, so it is reported
  }
}
