/** Some rows of a list. */
export type Rows<T> = {
  /** Of the first of `rows`, from 0. */
  readonly from: number;
  /** Of the whole list. */
  readonly total: number;
  readonly rows: readonly T[];
};

/** A browser shows so many at once, whatever the size of the mesh is. */
export const PAGE_ROWS = 50;

/** The page of a list that has the row `at`; the last page if there are fewer rows. */
export function rowsOf<T>(all: readonly T[], at: number): Rows<T> {
  const row = Math.min(at, Math.max(0, all.length - 1));
  const from = row - (row % PAGE_ROWS);
  return { from, total: all.length, rows: all.slice(from, from + PAGE_ROWS) };
}
