/** The longest foreign text that is printed, in UTF-16 code units: it may have a megabyte. */
export const MAX_TEXT = 1024;

/** The longest excerpt of a bad value in a reason. */
const MAX_EXCERPT = 64;
const MAX_WORDS = 300;

/** Safe in any output. */
export const PLAIN = /^[ -~]*$/;

/**
 * Characters that control a terminal, break a line, or disguise text: controls (C0, DEL, C1), format characters (bidi
 * overrides and isolates, https://trojansource.codes), line and paragraph separators, lone surrogates, and characters that
 * are invisible or unassigned.
 */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** A cut may leave half of a surrogate pair, or of an escape. */
const HALF_PAIR = /[\ud800-\udbff]$/;
const HALF_ESCAPE = /\\(?:u[\da-f]{0,3})?$/;

/** `text` with at most `max` code units. If it is cut, it ends in `…`; a surrogate pair is never cut. */
export const cut = (text: string, max = MAX_TEXT): string =>
  text.length <= max ? text : `${text.slice(0, max - 1).replace(HALF_PAIR, '')}…`;

/**
 * Foreign `text` as a part of one line: unsafe characters are escaped as in JSON, and it has at most `max` code units. A
 * second call changes nothing.
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

/** `raw` for a reason: quoted, escaped, and cut after 64 code units. Unless it is cut, `JSON.parse` reads it. */
export const quoted = (raw: string): string => quotedUpTo(MAX_EXCERPT, raw);

/** As `quoted`, for what a policy, a quota or a webhook says: cut after 300 code units. */
export const quotedWords = (raw: string): string => quotedUpTo(MAX_WORDS, raw);

function quotedUpTo(max: number, raw: string): string {
  if (raw.length <= max) return printableJson(JSON.stringify(raw));
  return `${printableJson(JSON.stringify(raw.slice(0, max).replace(HALF_PAIR, '')))}…`;
}

/** Equivalent JSON that is safe to print. Its line breaks stay: outside of a string they are layout. */
export const printableJson = (json: string): string => escaped(json, '\n');

function escaped(text: string, except?: string): string {
  return PLAIN.test(text) ? text : text.replace(UNSAFE, (char) => (char === except ? char : escapeOf(char)));
}

function escapeOf(char: string): string {
  const json = JSON.stringify(char).slice(1, -1);
  if (json !== char) return json;
  // JSON doesn't escape this one.
  return char
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
