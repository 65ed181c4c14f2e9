/** `fixed64` and `fixed32` are 8 and 4 bytes as they are, `length` is anything that has its length before it. */
export type WireType = 'varint' | 'fixed64' | 'length' | 'fixed32';

const wireTypes: Record<WireType, number> = { varint: 0, fixed64: 1, length: 2, fixed32: 5 };

/**
 * Writes protobuf from the last byte to the first: when the length prefix of a message is due, its body is there
 * already and has been counted. gogo-protobuf, which kube-apiserver uses, does the same.
 */
export class Writer {
  #buffer: Buffer;
  #start: number;

  constructor(capacity = 64 * 1024) {
    this.#buffer = Buffer.allocUnsafe(capacity);
    this.#start = capacity;
  }

  /** Bytes written so far; the difference of two readings is the length of what came between. */
  get length(): number {
    return this.#buffer.length - this.#start;
  }

  /** A copy of what was written; the writer is empty afterwards and can be used again. */
  take(): Buffer {
    const bytes = Buffer.from(this.#buffer.subarray(this.#start));
    this.#start = this.#buffer.length;
    return bytes;
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#start -= value.length;
    this.#buffer.set(value, this.#start);
  }

  /** The UTF-8 bytes of `value`, without a length. */
  text(value: string): void {
    const length = Buffer.byteLength(value);
    this.#reserve(length);
    this.#start -= length;
    this.#buffer.write(value, this.#start);
  }

  /** An integer in groups of seven bits, the lowest first; a negative one takes ten bytes, as int32 and int64 do. */
  varint(value: number): void {
    const size = varintSize(value);
    this.#reserve(size);
    this.#start -= size;
    let rest = value < 0 ? BigInt.asUintN(64, BigInt(value)) : value;
    for (let at = this.#start; at < this.#start + size; at++) {
      const more = at < this.#start + size - 1 ? 0x80 : 0;
      if (typeof rest === 'bigint') {
        this.#buffer[at] = Number(rest & 0x7fn) | more;
        rest >>= 7n;
      } else {
        this.#buffer[at] = (rest % 0x80) | more;
        rest = Math.floor(rest / 0x80);
      }
    }
  }

  tag(field: number, wireType: WireType): void {
    this.varint(field * 8 + wireTypes[wireType]);
  }

  /** What `body` writes, with its length and tag before it. */
  nested(field: number, body: () => void): void {
    const before = this.length;
    body();
    this.varint(this.length - before);
    this.tag(field, 'length');
  }

  #reserve(needed: number): void {
    if (this.#start >= needed) return;
    const written = this.#buffer.subarray(this.#start);
    const larger = Buffer.allocUnsafe(2 * (this.#buffer.length + needed));
    this.#start = larger.length - written.length;
    larger.set(written, this.#start);
    this.#buffer = larger;
  }
}

/** How many bytes `varint` takes for `value`. */
export function varintSize(value: number): number {
  if (value < 0) return 10;
  let size = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
  return size;
}
