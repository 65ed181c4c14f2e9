import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PackedBytes } from './packed-bytes.ts';

it('unpacks to the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5000, size: 'max' }), (bytes) => {
      const packed = new PackedBytes(bytes);
      expect(packed.length).toBe(bytes.length);
      expect(Buffer.from(packed.unpack())).toEqual(Buffer.from(bytes));
    }),
    { numRuns: 30 },
  );
});
