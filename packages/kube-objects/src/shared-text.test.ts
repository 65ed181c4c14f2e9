import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sharedText } from './shared-text.ts';

/** Few different bytes, so that many texts are the same, or have one place. */
const bytes = fc.oneof(
  fc.uint8Array({ max: 3, maxLength: 6 }),
  fc.uint8Array({ maxLength: 70 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => new TextEncoder().encode(text)),
);

it('is what the bytes say, whatever was read before', () => {
  const decoded = fc.property(fc.array(bytes, { maxLength: 200 }), (all) => {
    const buffer = Buffer.concat(all);
    let start = 0;
    for (const { length } of all) {
      expect(sharedText(buffer, start, start + length)).toBe(buffer.toString('utf8', start, start + length));
      start += length;
    }
  });
  fc.assert(decoded, { numRuns: 500 });
});

it('tells more texts apart than it keeps', () => {
  const texts = Array.from({ length: 20_000 }, (_, index) => `app-${index}`);
  for (const text of [...texts, ...texts]) expect(sharedText(Buffer.from(text), 0, text.length)).toBe(text);
});
