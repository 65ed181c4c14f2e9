/**
 * Rows as lines of aligned columns with two spaces between them.
 *
 * @param lastColumn to the right is for numbers
 */
export function table(
  rows: readonly (readonly string[])[],
  { lastColumn = 'left' }: { lastColumn?: 'left' | 'right' } = {},
): string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const widths = Array.from({ length: columns }, (_, column) => widthOf(column));
  return rows.map((row) =>
    widths
      .map((width, column) => {
        const cell = row[column] ?? '';
        return lastColumn === 'right' && column === columns - 1 ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}
