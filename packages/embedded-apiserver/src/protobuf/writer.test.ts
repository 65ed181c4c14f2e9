import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { varintSize, Writer } from './writer.ts';

const written = (write: (out: Writer) => void) => {
  const out = new Writer(1);
  write(out);
  return out.take();
};

describe('a varint', () => {
  it.each([
    { value: 0, hex: '00' },
    { value: 127, hex: '7f' },
    { value: 128, hex: '8001' },
    { value: 300, hex: 'ac02' },
    { value: 2 ** 31, hex: '8080808008' },
    { value: Number.MAX_SAFE_INTEGER, hex: 'ffffffffffffff0f' },
    { value: -1, hex: 'ffffffffffffffffff01' },
  ])('of $value is $hex', ({ value, hex }) => {
    expect(written((out) => out.varint(value)).toString('hex')).toBe(hex);
    expect(varintSize(value)).toBe(hex.length / 2);
  });

  it('reads back as the number', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        const read = written((out) => out.varint(value)).reduceRight(
          (sum, byte) => (sum << 7n) | BigInt(byte & 0x7f),
          0n,
        );
        expect(BigInt.asIntN(64, read)).toBe(BigInt(value));
      }),
    );
  });
});

describe('a writer', () => {
  it('writes backwards, with lengths in bytes', () => {
    const bytes = written((out) =>
      out.nested(1, () => {
        out.nested(3, () => out.text('grüß'));
        out.varint(5);
        out.tag(2, 'varint');
      }),
    );
    expect(bytes).toEqual(Buffer.concat([Buffer.of(0x0a, 10, 0x10, 5, 0x1a, 6), Buffer.from('grüß')]));
  });

  it('grows, and is empty after its bytes are taken', () => {
    const out = new Writer(1);
    out.bytes(Buffer.alloc(10_000, 7));
    expect(out.length).toBe(10_000);
    expect(out.take()).toEqual(Buffer.alloc(10_000, 7));
    expect(out.length).toBe(0);
  });
});
