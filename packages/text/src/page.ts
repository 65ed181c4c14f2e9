import { cut, printable, printableJson } from './printable.ts';

/** Lines for people. No input can forge a line: line breaks inside lines are escaped. Ends in a line break. */
export const pageOf = (lines: readonly string[]): string =>
  `${lines.map((line) => printable(line, Infinity)).join('\n')}\n`;

/** A value for programs: one JSON object with texts of at most 1,024 code units, and a line break. */
export function jsonPage(value: object): string {
  const json = JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? cut(part) : part), 2);
  return `${printableJson(json)}\n`;
}
