import { DecodeError, TooLargeError } from './errors.ts';
import { isSame, sharedText } from './shared-text.ts';

/** Wire types, https://protobuf.dev/programming-guides/encoding/#structure */
export const VARINT = 0;
export const LENGTH_DELIMITED = 2;
const FIXED64 = 1;
const FIXED32 = 5;

/** The memory of a string besides its bytes, with its slot in an object or array. */
const TEXT_BYTES = 24;

/**
 * A cursor over protobuf bytes. It allocates only the strings that it returns. Every length is checked against the end of
 * the enclosing message, so that no input can make it read elsewhere or loop.
 */
export class ProtobufReader {
  #bytes: Buffer;
  #position: number;
  #allowedBytes = Infinity;
  #spentBytes = 0;

  constructor(bytes: Buffer, position = 0) {
    this.#bytes = bytes;
    this.#position = position;
  }

  get position(): number {
    return this.#position;
  }

  /** Reads other bytes from now on, so that one reader serves a whole stream. */
  reset(bytes: Buffer, position: number): void {
    this.#bytes = bytes;
    this.#position = position;
  }

  /** From now on, the decoded values may take this many bytes of memory, as `spend` and `string` count them. */
  allow(bytes: number): void {
    this.#allowedBytes = bytes;
    this.#spentBytes = 0;
  }

  /** The memory of the values decoded since `allow`, in bytes. */
  get spentBytes(): number {
    return this.#spentBytes;
  }

  /** Call it before a value is decoded. @throws TooLargeError */
  spend(bytes: number): void {
    this.#spentBytes += bytes;
    if (this.#spentBytes > this.#allowedBytes)
      throw new TooLargeError(`it takes more than ${this.#allowedBytes} bytes of memory`);
  }

  /** A field's tag: number << 3 | wire type. */
  tag(end: number): number {
    return this.varint(end);
  }

  /** An unsigned number up to 2^53. */
  varint(end: number): number {
    const bytes = this.#bytes;
    let position = this.#position;
    let value = 0;
    let scale = 1;
    for (;;) {
      if (position >= end) throw new DecodeError('protobuf: a number runs past the end of its message');
      const byte = bytes[position++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
      scale *= 128;
      if (scale > 2 ** 49) throw new DecodeError('protobuf: a number is larger than 2^53');
    }
    this.#position = position;
    return value;
  }

  /**
   * An int32 or int64. A negative one takes ten bytes. The API server doesn't check the ports of an EndpointSlice, and one
   * slice with a negative port must not end the watch of all.
   */
  integer(end: number): number {
    if (!this.#isNegative(end)) return this.varint(end);
    // In two's complement, -1 - n has the inverted bits of n, so the upper ones are zero for small numbers.
    let complement = 0;
    let scale = 1;
    for (let at = this.#position; at < this.#position + 9; at++) {
      complement += (~this.#bytes[at]! & 0x7f) * scale;
      scale *= 128;
    }
    if (complement >= Number.MAX_SAFE_INTEGER) throw new DecodeError('protobuf: a number is smaller than -2^53');
    this.#position += 10;
    return -1 - complement;
  }

  /** Reads a length prefix. @returns the end of the bytes that it counts; they begin at the reader's position */
  length(end: number): number {
    const until = this.varint(end) + this.#position;
    if (until > end) throw new DecodeError('protobuf: a field is longer than its message');
    return until;
  }

  /** @throws TooLargeError beyond `atMost` bytes */
  string(end: number, atMost: number): string {
    const until = this.#text(end, atMost);
    const text = this.#bytes.toString('utf8', this.#position, until);
    this.#position = until;
    return text;
  }

  /** As `string`, for a text that many objects have. */
  sharedString(end: number, atMost: number): string {
    const until = this.#text(end, atMost);
    const text = sharedText(this.#bytes, this.#position, until);
    this.#position = until;
    return text;
  }

  /** Reads a text without decoding it. @returns whether it is this one, which is ASCII */
  isString(text: string, end: number): boolean {
    const until = this.length(end);
    const start = this.#position;
    this.#position = until;
    return isSame(text, this.#bytes, start, until);
  }

  seek(position: number): void {
    this.#position = position;
  }

  /** Skips the value of a field. */
  skip(tag: number, end: number): void {
    switch (tag & 7) {
      case LENGTH_DELIMITED:
        this.#position = this.length(end);
        return;
      case VARINT:
        this.#skipVarint(end);
        return;
      case FIXED64:
        this.#advance(8, end);
        return;
      case FIXED32:
        this.#advance(4, end);
        return;
      default:
        throw new DecodeError(`protobuf: wire type ${tag & 7} is unknown`);
    }
  }

  /** Counts a text. @returns the end of its bytes; they begin at the reader's position */
  #text(end: number, atMost: number): number {
    const until = this.length(end);
    const bytes = until - this.#position;
    if (bytes > atMost) throw new TooLargeError(`a text has more than ${atMost} bytes`);
    this.spend(TEXT_BYTES + bytes);
    return until;
  }

  /** Whether nine continued bytes follow, and one with only bit 63. */
  #isNegative(end: number): boolean {
    const last = this.#position + 9;
    if (last >= end || this.#bytes[last] !== 1) return false;
    for (let at = this.#position; at < last; at++) if (this.#bytes[at]! < 0x80) return false;
    return true;
  }

  /** A skipped number may have any 64 bits: at most ten bytes. */
  #skipVarint(end: number): void {
    for (let count = 0; count < 10; count++) {
      if (this.#position >= end) break;
      if (this.#bytes[this.#position++]! < 0x80) return;
    }
    throw new DecodeError('protobuf: a number runs past its end');
  }

  #advance(count: number, end: number): void {
    this.#position += count;
    if (this.#position > end) throw new DecodeError('protobuf: a field is longer than its message');
  }
}
