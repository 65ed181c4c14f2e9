/** A remote may have thousands of Nodes. */
const SOME = 3;

/** The first few names, and how many more there are. */
export function some(names: readonly string[], separator = ', '): string {
  const rest = names.length - SOME;
  return `${names.slice(0, SOME).join(separator)}${rest > 0 ? ` and ${rest} more` : ''}`;
}
