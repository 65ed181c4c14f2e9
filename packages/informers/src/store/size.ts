/** What a text takes besides its characters, and an object or array besides its slots. */
const TEXT_BYTES = 16;
const OBJECT_BYTES = 24;
const SLOT_BYTES = 8;

/** Deeper values aren't counted; no projection has any. */
const MAX_DEPTH = 16;

/**
 * Estimates how many bytes of memory a projected object takes. Data that objects share counts for each of them, and
 * V8's unused space doesn't count.
 */
export function sizeOf(value: unknown, depth = MAX_DEPTH): number {
  if (typeof value === 'string') return TEXT_BYTES + value.length;
  if (typeof value === 'bigint') return TEXT_BYTES;
  if (typeof value !== 'object' || value === null || depth === 0) return 0;
  let bytes = OBJECT_BYTES;
  if (Array.isArray(value)) {
    for (const element of value) bytes += SLOT_BYTES + sizeOf(element, depth - 1);
    return bytes;
  }
  // No projection has maps or sets.
  for (const name in value) bytes += SLOT_BYTES + sizeOf((value as Record<string, unknown>)[name], depth - 1);
  return bytes;
}
