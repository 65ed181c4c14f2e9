/**
 * A document as Go's encoding/json reads one into structs: known keys match in any case, the last of two equal keys
 * wins, and null is the same as absent.
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
