import { DecodeError, TooLargeError } from './errors.ts';

/** How much memory parsed JSON may take. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Shorter texts never reach the limit: the worst case, nested arrays, takes 29 times its length. */
const HARMLESS_BYTES = 1024 * 1024;

/** The memory of an object or array, of a text besides its length (a key may need a shape), and of a slot, in V8. */
const CONTAINER_BYTES = 64;
const TEXT_BYTES = 32;
const SLOT_BYTES = 8;

/**
 * Parses the JSON in a part of `bytes`. Two bytes may become an object of 64, so the result's size is estimated first.
 *
 * @throws DecodeError if it is not JSON; TooLargeError if it would take more than 32 MiB of memory
 */
export function parseJson(bytes: Buffer, start = 0, end = bytes.length): unknown {
  if (end - start > HARMLESS_BYTES && parsedBytes(bytes, start, end) > MAX_BYTES) {
    throw new TooLargeError(`JSON takes more than ${MAX_BYTES} bytes of memory`);
  }
  try {
    return JSON.parse(bytes.toString('utf8', start, end));
  } catch (cause) {
    throw new DecodeError('the answer is not valid JSON', { cause });
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;

/** An estimate in one pass, for valid JSON. */
function parsedBytes(bytes: Buffer, start: number, end: number): number {
  let sum = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      const from = at++;
      while (at < end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
      sum += TEXT_BYTES + at - from;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) sum += CONTAINER_BYTES;
    else if (byte === COMMA) sum += SLOT_BYTES;
  }
  return sum;
}
