import { cut, MAX_TEXT, printable, printableJson } from './printable.ts';

/** Lines for people. No input can forge a line: line breaks inside lines are escaped. Ends in a line break. */
export const pageOf = (lines: readonly string[]): string =>
  `${lines.map((line) => printable(line, Infinity)).join('\n')}\n`;

/**
 * A value for programs: one JSON object with texts of at most 1,024 code units, and a line break.
 *
 * @param strip removes our own credentials from a text
 */
export function jsonPage(value: object, strip = (text: string): string => text): string {
  // A credential may begin before the cut and end after it.
  const short = (text: string): string => cut(strip(cut(text, 2 * MAX_TEXT)));
  const json = JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? short(part) : part), 2);
  return `${printableJson(json)}\n`;
}
