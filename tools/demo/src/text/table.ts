/** Rows as lines of aligned columns with two spaces between them. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(0, ...rows.map(({ length }) => length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]) => widths.map((width, i) => (row[i] ?? '').padEnd(width)).join('  ');
  return rows.map((row) => line(row).trimEnd());
}
