import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameSplitter } from './frames.ts';

const framings = {
  'length-prefix': (frame: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(frame.length);
    return Buffer.concat([length, frame]);
  },
  newline: (frame: Buffer) => Buffer.concat([frame, Buffer.from('\n')]),
};

describe.each(['length-prefix', 'newline'] as const)('FrameSplitter by %s', (framing) => {
  const frame = fc
    .uint8Array({ maxLength: 200 })
    .map((bytes) => Buffer.from(bytes.map((byte) => (byte === 0x0a ? 0x0b : byte))));

  it('returns the same frames for any division into chunks', () => {
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 20 }),
        fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1 }),
        (frames, sizes) => {
          const splitter = new FrameSplitter(framing, { maxFrameBytes: 1000 });
          const stream = Buffer.concat(frames.map(framings[framing]));
          const found: string[] = [];
          for (let at = 0, turn = 0; at < stream.length; turn++) {
            const size = sizes[turn % sizes.length]!;
            splitter.push(stream.subarray(at, at + size), (bytes, start, end) =>
              found.push(bytes.toString('hex', start, end)),
            );
            at += size;
          }
          expect(found).toEqual(frames.map((bytes) => bytes.toString('hex')));
          expect(splitter.pendingBytes).toBe(0);
        },
      ),
    );
  });

  it('shows that a stream ended within a frame', () => {
    const splitter = new FrameSplitter(framing, { maxFrameBytes: 1000 });
    splitter.push(framings[framing](Buffer.from('abc')).subarray(0, 3), () => expect.unreachable());
    expect(splitter.pendingBytes).toBe(3);
  });

  it('refuses a frame over the limit before it is complete', () => {
    const splitter = new FrameSplitter(framing, { maxFrameBytes: 100 });
    expect(() =>
      splitter.push(framings[framing](Buffer.alloc(300, 'x')).subarray(0, 200), () => expect.unreachable()),
    ).toThrow('larger than 100 bytes');
  });

  it('accepts a frame that is larger than its first buffer', () => {
    const splitter = new FrameSplitter(framing, { maxFrameBytes: 1_000_000 });
    const large = Buffer.alloc(500_000, 'x');
    const found: number[] = [];
    for (let round = 0; round < 2; round++)
      splitter.push(framings[framing](large), (_, start, end) => found.push(end - start));
    expect(found).toEqual([500_000, 500_000]);
  });
});
