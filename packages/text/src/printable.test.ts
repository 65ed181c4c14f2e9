import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cut, printable, printableJson, quoted } from './printable.ts';

/** Any UTF-16, lone surrogates as well, and more than any other of what is unsafe. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '\u001b[2J',
        '\n',
        '\r',
        '\u009b',
        '\u2028',
        '\u202e',
        '\u200b',
        '\ud83d',
        '\ude00',
        '😀',
        '\\',
        '"',
        '\u{e0041}',
      ),
    ),
  )
  .map((parts) => parts.join(''));

const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

describe('what is printed of others', () => {
  it.each([
    { name: 'a sequence that steers a terminal', text: 'a\u001b[2Jb', want: String.raw`a\u001b[2Jb` },
    { name: 'its one-byte form', text: 'a\u009b2J', want: String.raw`a\u009b2J` },
    { name: 'a line break', text: 'a\r\nb', want: String.raw`a\r\nb` },
    { name: 'DEL', text: 'a\u007f', want: String.raw`a\u007f` },
    { name: 'a line separator of Unicode', text: 'a\u2028b\u2029', want: String.raw`a\u2028b\u2029` },
    { name: 'what turns the direction of text', text: '\u202eabc\u2066', want: String.raw`\u202eabc\u2066` },
    { name: 'what has no width', text: 'a\u200bb\ufeff', want: String.raw`a\u200bb\ufeff` },
    { name: 'half a character', text: 'a\ud83d', want: String.raw`a\ud83d` },
    { name: 'a letter that only programs see', text: '\u{e0041}', want: String.raw`\udb40\udc41` },
  ])('has $name escaped', ({ text, want }) => {
    expect(printable(text)).toBe(want);
  });

  it.each(['pod default/web-1', 'Größe 日本 😀', '"quoted" \\ and not'])('has ordinary text as it is: %s', (text) => {
    expect(printable(text)).toBe(text);
  });

  it('is safe and no longer than it may be, whatever was written, and printing it once more changes nothing', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 8, max: 40 }), (text, max) => {
        const printed = printable(text, max);
        expect(printed).not.toMatch(unsafe);
        expect(printed.length).toBeLessThanOrEqual(max);
        expect(printable(printed, max)).toBe(printed);
      }),
    );
  });

  it('is cut before a character that would be cut in two', () => {
    expect([cut('ab😀c', 4), printable('ab😀c', 4), printable('a\u001b', 5)]).toEqual(['ab…', 'ab…', 'a…']);
  });

  it('is cut without a look at the rest', () => {
    expect(printable('\u001b'.repeat(50_000_000))).toHaveLength(1 + 6 * 170);
  });
});

describe('a quoted excerpt', () => {
  it('is safe, short, and reads back as what it was unless it is cut', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const printed = quoted(text);
        expect(printed).not.toMatch(unsafe);
        expect(printed.length).toBeLessThanOrEqual(2 + 6 * 64 + 1);
        expect(text.length <= 64 ? JSON.parse(printed) : printed.slice(-2)).toBe(text.length <= 64 ? text : '"…');
      }),
    );
  });
});

describe('JSON that is printed', () => {
  it('is safe but for its own line breaks, and means the same', () => {
    fc.assert(
      fc.property(fc.dictionary(anyText, anyText), (value) => {
        const printed = printableJson(JSON.stringify(value, undefined, 2));
        expect(printed.replaceAll('\n', '')).not.toMatch(unsafe);
        expect(JSON.parse(printed)).toEqual(value);
      }),
    );
  });
});
