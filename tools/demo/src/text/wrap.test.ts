import fc from 'fast-check';
import { expect, it } from 'vitest';
import { wrap } from './wrap.ts';

it.each([
  { name: 'has no line for no text', text: ' ', width: 10, want: [] },
  { name: 'fills lines to the last column', text: 'one two six', width: 7, want: ['one two', 'six'] },
  { name: 'takes line breaks for spaces', text: 'one\n  two', width: 7, want: ['one two'] },
  { name: 'gives a long word its own line', text: 'a longest b', width: 4, want: ['a', 'longest', 'b'] },
])('$name', ({ text, width, want }) => {
  expect(wrap(text, width)).toEqual(want);
});

it('keeps every word, in order', () => {
  const words = (text: string) => text.split(/\s+/).filter((word) => word !== '');
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 40 }), (text, width) => {
      expect(words(wrap(text, width).join('\n'))).toEqual(words(text));
    }),
  );
});
