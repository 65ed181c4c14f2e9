/** Rows of cells, all of the same length; the first row is the head. */
export type Table = readonly (readonly string[])[];

/** Columns padded with spaces: the first to the left, the others to the right. Empty columns are omitted. */
export function toText(table: Table): string {
  return align(table)
    .map((row) => row.join('  ').trimEnd())
    .join('\n');
}

/** A Markdown table, aligned in the source, too. */
export function toMarkdown(table: Table): string {
  const [head = [], ...body] = align(table.map((row) => row.map((cell) => cell.replaceAll('|', '\\|'))));
  const rule = head.map((cell, column) => (column === 0 ? '-'.repeat(cell.length) : `${'-'.repeat(cell.length - 1)}:`));
  return [head, rule, ...body].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function align(table: Table): string[][] {
  const columns = (table[0] ?? []).map((_, column) => column);
  const widths = columns.map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const used = columns.filter((column) => table.some((row) => row[column] !== ''));
  return table.map((row) =>
    used.map((column) => {
      const [cell = '', width = 0] = [row[column], widths[column]];
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    }),
  );
}
