/** A row of a program, with what a reader must know of it: rows that say the same are one. */
type Told<T> = { readonly app: string; readonly row: T; readonly says: string };

/** Rows that the same apps have. */
export type Shared<T> = { readonly apps: readonly string[]; readonly rows: readonly (readonly T[])[] };

/**
 * Groups rows by the apps that have them. The row of each app is given, as the apps may add to what they share.
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
