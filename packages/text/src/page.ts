import { Document, Scalar, visit } from 'yaml';
import { cut, MAX_TEXT, PLAIN, printable, printableJson } from './printable.ts';

/** Lines for people. No input can forge a line: line breaks inside lines are escaped. Ends in a line break. */
export const pageOf = (lines: readonly string[]): string =>
  `${lines.map((line) => printable(line, Infinity)).join('\n')}\n`;

/**
 * A value for programs: one JSON object with keys and texts of at most 1,024 code units, and a line break.
 *
 * @param strip removes our own credentials from a text. It must not see the JSON: the `n` of `\n` would count as part of a
 *   credential behind it.
 */
export const jsonPage = (value: object, strip = (text: string): string => text): string =>
  `${printableJson(JSON.stringify(value, shortenedBy(strip), 2))}\n`;

/** As `jsonPage`, in YAML that parsers of YAML 1.1 read alike. */
export function yamlPage(value: object): string {
  const short: unknown = JSON.parse(
    JSON.stringify(
      value,
      shortenedBy((text) => text),
    ),
  );
  const document = new Document(short, { compat: 'yaml-1.1' });
  // Only double quotes have escapes.
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'string' && !PLAIN.test(scalar.value)) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return printableJson(document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity }));
}

function shortenedBy(strip: (text: string) => string): (key: string, part: unknown) => unknown {
  // A credential may begin before the cut and end after it.
  const short = (text: string): string => cut(strip(cut(text, 2 * MAX_TEXT)));
  return (_, part) => {
    if (typeof part === 'string') return short(part);
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [short(key), inner as unknown]));
  };
}
