import { cut, MAX_TEXT, printable, printableJson } from './printable.ts';

/** Lines for people. No input can forge a line: line breaks inside lines are escaped. Ends in a line break. */
export const pageOf = (lines: readonly string[]): string =>
  `${lines.map((line) => printable(line, Infinity)).join('\n')}\n`;

/**
 * A value for programs: one JSON object with keys and texts of at most 1,024 code units, and a line break.
 *
 * @param strip removes our own credentials from a text. It must not see the JSON: the `n` of `\n` would count as part of a
 *   credential behind it.
 */
export function jsonPage(value: object, strip = (text: string): string => text): string {
  // A credential may begin before the cut and end after it.
  const short = (text: string): string => cut(strip(cut(text, 2 * MAX_TEXT)));
  const shorten = (part: unknown): unknown => {
    if (typeof part === 'string') return short(part);
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [short(key), inner as unknown]));
  };
  return `${printableJson(JSON.stringify(value, (_, part: unknown) => shorten(part), 2))}\n`;
}
