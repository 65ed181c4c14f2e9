/** A row of a program, and its text: rows with the same text are shared. */
type Told<T> = { readonly app: string; readonly row: T; readonly says: string };

/** Rows that the same apps share. */
export type Shared<T> = { readonly apps: readonly string[]; readonly rows: readonly (readonly T[])[] };

/**
 * Groups rows by the apps that share them. Each app's row is kept: it may have more fields.
 *
 * @param told rows of all apps, in the order of the pages
 * @returns groups in the order of their first row
 */
export function byApps<T>(told: readonly Told<T>[]): readonly Shared<T>[] {
  const same = [...Map.groupBy(told, ({ says }) => says).values()];
  const groups = Map.groupBy(same, (rows) => rows.map(({ app }) => app).join(' '));
  return [...groups.values()].map((of) => ({
    apps: of[0]!.map(({ app }) => app),
    rows: of.map((rows) => rows.map(({ row }) => row)),
  }));
}
