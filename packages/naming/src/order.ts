/** Orders texts by their UTF-16 code units, for `toSorted`: the same everywhere, whatever the locale. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Orders objects by name, as `compareText`. */
export const compareNames = (a: { readonly name: string }, b: { readonly name: string }): number =>
  compareText(a.name, b.name);
