import { DecodeError, TooLargeError } from './errors.ts';

/** What parsed JSON may take in memory. */
const MAX_BYTES = 32 * 1024 * 1024;
/** The worst that there is, arrays in arrays, takes 29 times its length: what is shorter never comes near the limit. */
const HARMLESS_BYTES = 1024 * 1024;

/** What V8 takes for an object or array, for a text besides its length (a key may cost a shape), and for a place. */
const CONTAINER_BYTES = 64;
const TEXT_BYTES = 32;
const PLACE_BYTES = 8;

/**
 * Parses the JSON in a part of `bytes`. JSON.parse makes an object of two bytes one of 64, so its size is estimated
 * before there is any of it.
 *
 * @throws DecodeError if it is none; TooLargeError if it would take more than 32 MiB of memory
 */
export function parseJson(bytes: Buffer, start = 0, end = bytes.length): unknown {
  if (end - start > HARMLESS_BYTES && parsedBytes(bytes, start, end) > MAX_BYTES) {
    throw new TooLargeError(`JSON takes more than ${MAX_BYTES} bytes of memory`);
  }
  try {
    return JSON.parse(bytes.toString('utf8', start, end));
  } catch (cause) {
    throw new DecodeError('what came is not JSON', { cause });
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;

/** An estimate, in one pass. Of what is no JSON it says anything. */
function parsedBytes(bytes: Buffer, start: number, end: number): number {
  let sum = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      const from = at++;
      while (at < end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
      sum += TEXT_BYTES + at - from;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) sum += CONTAINER_BYTES;
    else if (byte === COMMA) sum += PLACE_BYTES;
  }
  return sum;
}
