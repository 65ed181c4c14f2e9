/** Longest text of others that is printed, in UTF-16 code units: they may have written a megabyte. */
export const MAX_TEXT = 1024;

/** Longest excerpt of a bad value that a reason repeats. */
const MAX_EXCERPT = 64;

const PLAIN = /^[ -~]*$/;

/**
 * What steers a terminal, breaks a line, or shows text as what it isn't: controls (C0, DEL, C1), format characters
 * (bidi overrides and isolates, https://trojansource.codes), line and paragraph separators, lone surrogates, and
 * whatever is invisible or has no meaning yet.
 */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** A cut may leave the beginning of a surrogate pair, or of an escape. */
const HALF_PAIR = /[\ud800-\udbff]$/;
const HALF_ESCAPE = /\\(?:u[\da-f]{0,3})?$/;

/** `text`, cut to `max` code units with the `…` that says so, and never through a surrogate pair. */
export const cut = (text: string, max = MAX_TEXT): string =>
  text.length <= max ? text : `${text.slice(0, max - 1).replace(HALF_PAIR, '')}…`;

/**
 * `text` of others as a part of one line: what is unsafe to print is escaped as in JSON, and it is cut to `max` code
 * units. A second call changes nothing.
 */
export function printable(text: string, max = MAX_TEXT): string {
  const safe = escaped(cut(text, max));
  return safe.length <= max
    ? safe
    : `${safe
        .slice(0, max - 1)
        .replace(HALF_ESCAPE, '')
        .replace(HALF_PAIR, '')}…`;
}

/** `raw` as it may stand in a reason: quoted, escaped, cut after 64 code units. Unless cut, `JSON.parse` reads it. */
export function quoted(raw: string): string {
  if (raw.length <= MAX_EXCERPT) return printableJson(JSON.stringify(raw));
  return `${printableJson(JSON.stringify(raw.slice(0, MAX_EXCERPT).replace(HALF_PAIR, '')))}…`;
}

/** JSON that means the same and is safe to print. Its line breaks stay: outside of a string they are layout. */
export const printableJson = (json: string): string => escaped(json, '\n');

function escaped(text: string, except?: string): string {
  return PLAIN.test(text) ? text : text.replace(UNSAFE, (char) => (char === except ? char : escapeOf(char)));
}

function escapeOf(char: string): string {
  const json = JSON.stringify(char).slice(1, -1);
  if (json !== char) return json;
  // Of what JSON leaves as it is, in UTF-16.
  return char
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
