/** Longest excerpt of a bad value that a reason repeats; whoever wrote the value may have written a megabyte. */
const EXCERPT = 64;

/** `raw` as it may stand in a reason: quoted, with control characters escaped, cut after 64 characters. */
export function quoted(raw: string): string {
  return raw.length > EXCERPT ? `${JSON.stringify(raw.slice(0, EXCERPT))}…` : JSON.stringify(raw);
}
