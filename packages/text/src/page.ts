import { cut, printable, printableJson } from './printable.ts';

/** Lines for people. None can be faked: a line break within one is escaped. Ends in a line break. */
export const pageOf = (lines: readonly string[]): string =>
  `${lines.map((line) => printable(line, Infinity)).join('\n')}\n`;

/** A value for programs: one JSON object, whose texts are cut to 1,024 code units, and a line break. */
export function jsonPage(value: object): string {
  const json = JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? cut(part) : part), 2);
  return `${printableJson(json)}\n`;
}
