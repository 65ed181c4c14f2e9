import { printable } from '@kube-semaphore/text';

/** A cell, and how it is shown: colours have no width. */
export type Cell = { readonly text: string; readonly paint?: (text: string) => string };

/** Lines of a table with a heading, in columns two spaces apart. Text of others is escaped. */
export function tableLines(heading: readonly string[], rows: readonly (readonly Cell[])[]): readonly string[] {
  const safe = rows.map((row) => row.map((cell) => ({ ...cell, text: printable(cell.text) })));
  const all: readonly (readonly Cell[])[] = [heading.map((text) => ({ text })), ...safe];
  const widths = heading.map((_, column) => Math.max(...all.map((row) => row[column]?.text.length ?? 0)));
  return all.map((row) =>
    row
      .map(({ text, paint = (plain) => plain }, column) => {
        const isLast = column === row.length - 1;
        return paint(text) + (isLast ? '' : ' '.repeat(widths[column]! - text.length));
      })
      .join('  '),
  );
}
