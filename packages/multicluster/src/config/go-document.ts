/**
 * A document as Go's encoding/json reads one into structs: keys in any case count for the known ones, the last of two
 * that mean the same wins, and what is null is as good as absent.
 *
 * @param keys of all objects in the document, as our schema spells them
 */
export function goDocument(document: unknown, keys: readonly string[]): unknown {
  const spellings = new Map(keys.map((key) => [key.toLowerCase(), key]));
  const read = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(read);
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).filter(([, field]) => field !== null);
    return Object.fromEntries(fields.map(([key, field]) => [spellings.get(key.toLowerCase()) ?? key, read(field)]));
  };
  return read(document);
}
