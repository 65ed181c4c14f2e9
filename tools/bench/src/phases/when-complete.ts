import type { LocalWatch } from '../measure/local-watch.ts';

/** The expected items of each key. */
export type Expected = ReadonlyMap<string, ReadonlySet<string>>;

/** When the first change of any key was seen, and when the last key was complete. */
export type Completion = { readonly firstAtMs: number; readonly allAtMs: number };

/** Watches from now on. Rejects with the signal's reason. */
export async function whenComplete(
  watch: LocalWatch,
  expected: Expected,
  { signal }: { signal: AbortSignal },
): Promise<Completion> {
  const missing = new Map(expected);
  let firstAtMs: number | undefined;
  return watch.until(
    ({ key, items, atMs }) => {
      firstAtMs ??= atMs;
      if (isComplete(missing.get(key), items)) missing.delete(key);
      return missing.size === 0 ? { firstAtMs, allAtMs: atMs } : undefined;
    },
    { signal },
  );
}

function isComplete(expected: ReadonlySet<string> | undefined, items: readonly string[]): boolean {
  return expected?.size === items.length && items.every((item) => expected.has(item));
}
