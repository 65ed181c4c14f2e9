/** A longer text is rarely the same twice. */
const LONGEST_BYTES = 64;

/** The last text of each place. */
const texts: (string | undefined)[] = Array.from({ length: 4096 });

/**
 * Decodes UTF-8 to a text that was decoded lately, if that is the same: thousands of objects have the same labels, and a
 * comparison takes less time than another text, and no memory.
 */
export function sharedText(bytes: Buffer, start: number, end: number): string {
  if (end - start > LONGEST_BYTES) return bytes.toString('utf8', start, end);
  let hash = 0;
  let bits = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    hash = (Math.imul(hash, 31) + byte) | 0;
    bits |= byte;
  }
  // Only of ASCII, each byte is a character.
  if (bits >= 0x80) return bytes.toString('utf8', start, end);
  const place = (hash ^ (hash >>> 12)) & (texts.length - 1);
  const known = texts[place];
  if (known !== undefined && isSame(known, bytes, start, end)) return known;
  const text = bytes.toString('latin1', start, end);
  texts[place] = text;
  return text;
}

/** Whether bytes are a text of ASCII. */
export function isSame(text: string, bytes: Buffer, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) !== bytes[start + at]) return false;
  return true;
}
