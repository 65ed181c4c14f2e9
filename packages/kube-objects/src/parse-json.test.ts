import { describe, expect, it } from 'vitest';
import { DecodeError, TooLargeError } from './errors.ts';
import { parseJson } from './parse-json.ts';

/** An array of this many MiB. */
const filled = (mib: number, element: (index: number) => string): Buffer => {
  const parts: string[] = [];
  for (let bytes = 0; bytes < mib * 1024 * 1024; bytes += parts.at(-1)!.length + 1) parts.push(element(parts.length));
  return Buffer.from(`[${parts.join(',')}]`);
};

describe('parseJson', () => {
  it('reads a part of the bytes', () => {
    expect(parseJson(Buffer.from('x{"a":"é"}\n'), 1, 11)).toEqual({ a: 'é' });
  });

  it.each(['', '{', '{"a":1}x', '\u0000'])('refuses %j', (text) => {
    expect(() => parseJson(Buffer.from(text))).toThrow(DecodeError);
  });

  it.each([
    { name: 'empty objects', bytes: () => filled(4, () => '{}') },
    { name: 'empty arrays', bytes: () => filled(4, () => '[]') },
    {
      name: 'objects of different shapes',
      bytes: () => filled(6, (i) => `{"${i.toString(36).padStart(4, '0')}":0}`),
    },
    { name: 'arrays in arrays', bytes: () => Buffer.from('['.repeat(2_000_000) + ']'.repeat(2_000_000)) },
  ])('refuses $name that would fill the memory, before they do', ({ bytes }) => {
    expect(() => parseJson(bytes())).toThrow(TooLargeError);
  });

  it.each([
    // As in bench: 15 kB each, 500 to a page.
    {
      name: 'a page of Pods',
      bytes: () => filled(7, (i) => `{"metadata":{"name":"p${i}"},"spec":"${'x'.repeat(14_900)}"}`),
    },
    { name: 'a Pod with as many variables as etcd accepts', bytes: () => filled(2.9, () => '{"name":"A"}') },
    { name: 'a text with all counted characters', bytes: () => Buffer.from(`"${'{[,\\"'.repeat(600_000)}"`) },
  ])('takes $name', ({ bytes }) => {
    expect(parseJson(bytes())).toBeDefined();
  });
});
