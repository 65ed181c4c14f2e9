import { DecodeError } from './errors.ts';

/** Called with each complete frame in the splitter's own buffer: it must not keep any part of `bytes`. */
export type OnFrame = (bytes: Buffer, start: number, end: number) => void;

/** Finds the frame that begins at `from`; undefined if it isn't complete. */
type FindFrame = (
  bytes: Buffer,
  from: number,
  filled: number,
) => { start: number; end: number; next: number } | undefined;

const SMALLEST_BUFFER = 64 * 1024;

/**
 * Cuts a byte stream into frames. Protobuf watch events follow their length in 4 bytes (big-endian); JSON events end in a
 * newline. All chunks share one buffer, so that a list of 600 MB leaves no garbage except the wanted strings.
 */
export class FrameSplitter {
  readonly #find: FindFrame;
  readonly #maxFrameBytes: number;
  #buffer = Buffer.allocUnsafeSlow(SMALLEST_BUFFER);
  #filled = 0;

  constructor(framing: 'length-prefix' | 'newline', { maxFrameBytes }: { maxFrameBytes: number }) {
    this.#find = framing === 'length-prefix' ? lengthPrefixed(maxFrameBytes) : newlineTerminated();
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** @throws DecodeError if a frame is larger than `maxFrameBytes`, before it is in memory */
  push(chunk: Buffer, onFrame: OnFrame): void {
    this.#append(chunk);
    let from = 0;
    for (
      let frame = this.#find(this.#buffer, 0, this.#filled);
      frame;
      frame = this.#find(this.#buffer, from, this.#filled)
    ) {
      onFrame(this.#buffer, frame.start, frame.end);
      from = frame.next;
    }
    this.#buffer.copyWithin(0, from, this.#filled);
    this.#filled -= from;
    if (this.#filled > this.#maxFrameBytes) throw tooLarge(this.#maxFrameBytes);
    if (this.#filled === 0 && this.#buffer.length > SMALLEST_BUFFER)
      this.#buffer = Buffer.allocUnsafeSlow(SMALLEST_BUFFER);
  }

  /** Bytes of an incomplete frame; if a stream ends with some, it was cut. */
  get pendingBytes(): number {
    return this.#filled;
  }

  #append(chunk: Buffer): void {
    const needed = this.#filled + chunk.length;
    if (needed > this.#buffer.length) {
      // One frame and a chunk are enough, and a remote may have several watches.
      const larger = Buffer.allocUnsafeSlow(
        Math.max(needed, Math.min(this.#buffer.length * 2, this.#maxFrameBytes + SMALLEST_BUFFER)),
      );
      this.#buffer.copy(larger, 0, 0, this.#filled);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, this.#filled);
    this.#filled = needed;
  }
}

function lengthPrefixed(maxFrameBytes: number): FindFrame {
  return (bytes, from, filled) => {
    if (filled - from < 4) return undefined;
    const length = bytes.readUInt32BE(from);
    if (length > maxFrameBytes) throw tooLarge(maxFrameBytes);
    const end = from + 4 + length;
    return end > filled ? undefined : { start: from + 4, end, next: end };
  };
}

const NEWLINE = 0x0a;

function newlineTerminated(): FindFrame {
  // How far an incomplete line was searched; otherwise a line of 8 MiB in small chunks takes quadratic time.
  let searched = 0;
  return (bytes, from, filled) => {
    const at = bytes.subarray(0, filled).indexOf(NEWLINE, Math.max(from, searched));
    searched = at === -1 ? filled - from : 0;
    return at === -1 ? undefined : { start: from, end: at, next: at + 1 };
  };
}

const tooLarge = (maxFrameBytes: number) => new DecodeError(`a watch event is larger than ${maxFrameBytes} bytes`);
