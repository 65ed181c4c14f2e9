/** Labels or annotations. */
export type StringMap = { readonly [key: string]: string };

/** Whether two maps have the same entries, in any order. */
export function isSameMap(a: StringMap, b: StringMap): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}
