/**
 * Rows as lines of aligned columns with two spaces between them.
 *
 * @param lastColumn 'right' is for numbers
 */
export function table(
  rows: readonly (readonly string[])[],
  { lastColumn = 'left' }: { readonly lastColumn?: 'left' | 'right' } = {},
): string[] {
  const columns = Math.max(0, ...rows.map(({ length }) => length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const isRight = (column: number) => lastColumn === 'right' && column === columns - 1;
  const pad = (cell: string, width: number, i: number) => (isRight(i) ? cell.padStart(width) : cell.padEnd(width));
  const line = (row: readonly string[]) => widths.map((width, i) => pad(row[i] ?? '', width, i)).join('  ');
  return rows.map((row) => line(row).trimEnd());
}
