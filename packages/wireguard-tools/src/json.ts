import { bad, good, type Parsed } from '@kube-semaphore/net';

/** An object of the answer of `ip -json`, whose fields nobody has looked at yet. */
export type Entry = Readonly<Record<string, unknown>>;

/**
 * Reads the answer of `ip -json`: a list of objects. It is empty where there is nothing to show, and some versions of
 * iproute2 put an empty object in the place of each entry that a filter took out.
 *
 * @returns the objects that aren't empty, or what is wrong
 */
export function parseEntries(text: string): Parsed<readonly Entry[]> {
  if (text.trim() === '') return good([]);
  const value = parseJson(text);
  if (!Array.isArray(value) || !value.every(isEntry)) return bad('not a JSON list of objects');
  return good(value.filter((entry) => Object.keys(entry).length > 0));
}

/** Whether a value is an object with fields. */
export function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // which is no list, and reported as such
  }
}
