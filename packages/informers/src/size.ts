/** What a text takes besides its letters, and an object or array besides its places. */
const TEXT_BYTES = 16;
const OBJECT_BYTES = 24;
const PLACE_BYTES = 8;

/** What is nested deeper is counted up to there; no projection is. */
const DEEPEST = 16;

/**
 * About how many bytes of memory a projected object takes: plain data, of which what it shares with others counts each
 * time. An estimate, as V8 has it without its slack.
 */
export function sizeOf(value: unknown, depth = DEEPEST): number {
  if (typeof value === 'string') return TEXT_BYTES + value.length;
  if (typeof value === 'bigint') return TEXT_BYTES;
  if (typeof value !== 'object' || value === null || depth === 0) return 0;
  let bytes = OBJECT_BYTES;
  if (Array.isArray(value)) {
    for (const element of value) bytes += PLACE_BYTES + sizeOf(element, depth - 1);
    return bytes;
  }
  // Maps and sets are in no projection.
  for (const name in value) bytes += PLACE_BYTES + sizeOf((value as Record<string, unknown>)[name], depth - 1);
  return bytes;
}
