import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cut, printable, printableJson, quoted } from './printable.ts';

/** Any UTF-16, with lone surrogates, and with many unsafe characters. */
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

describe('printable', () => {
  it.each([
    { name: 'a sequence that controls a terminal', text: 'a\u001b[2Jb', want: String.raw`a\u001b[2Jb` },
    { name: 'its one-byte form', text: 'a\u009b2J', want: String.raw`a\u009b2J` },
    { name: 'a line break', text: 'a\r\nb', want: String.raw`a\r\nb` },
    { name: 'DEL', text: 'a\u007f', want: String.raw`a\u007f` },
    { name: 'a line separator of Unicode', text: 'a\u2028b\u2029', want: String.raw`a\u2028b\u2029` },
    {
      name: 'characters that change the direction of text',
      text: '\u202eabc\u2066',
      want: String.raw`\u202eabc\u2066`,
    },
    { name: 'characters without width', text: 'a\u200bb\ufeff', want: String.raw`a\u200bb\ufeff` },
    { name: 'a lone surrogate', text: 'a\ud83d', want: String.raw`a\ud83d` },
    { name: 'an invisible letter', text: '\u{e0041}', want: String.raw`\udb40\udc41` },
  ])('has $name escaped', ({ text, want }) => {
    expect(printable(text)).toBe(want);
  });

  it.each(['pod default/web-1', 'Größe 日本 😀', '"quoted" \\ and not'])('keeps ordinary text: %s', (text) => {
    expect(printable(text)).toBe(text);
  });

  it('is safe and short for any text, and idempotent', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 8, max: 40 }), (text, max) => {
        const printed = printable(text, max);
        expect(printed).not.toMatch(unsafe);
        expect(printed.length).toBeLessThanOrEqual(max);
        expect(printable(printed, max)).toBe(printed);
      }),
    );
  });

  it('cuts before a surrogate pair, not inside of it', () => {
    expect([cut('ab😀c', 4), printable('ab😀c', 4), printable('a\u001b', 5)]).toEqual(['ab…', 'ab…', 'a…']);
  });

  it('cuts without reading the rest', () => {
    expect(printable('\u001b'.repeat(50_000_000))).toHaveLength(1 + 6 * 170);
  });
});

describe('a quoted excerpt', () => {
  it('is safe, short, and parses to the original unless it is cut', () => {
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
  it('is safe except its own line breaks, and equivalent', () => {
    fc.assert(
      fc.property(fc.dictionary(anyText, anyText), (value) => {
        const printed = printableJson(JSON.stringify(value, undefined, 2));
        expect(printed.replaceAll('\n', '')).not.toMatch(unsafe);
        expect(JSON.parse(printed)).toEqual(value);
      }),
    );
  });
});
