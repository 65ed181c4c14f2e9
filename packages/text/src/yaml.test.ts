import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { parseYaml } from './yaml.ts';

const aliases = (count: number): string => Array.from({ length: count }, (_, i) => `- &a${i} x\n- *a${i}\n`).join('');

describe('parseYaml', () => {
  it.each([
    { name: 'several maps with the same keys', source: '- a: 1\n- a: 2', want: [{ a: 1 }, { a: 2 }] },
    { name: 'the same key inside of its own value', source: 'a: { a: 1 }', want: { a: { a: 1 } } },
    { name: 'a number and a text as keys', source: '- 1: a\n- "1": b', want: [{ 1: 'a' }, { 1: 'b' }] },
    { name: 'an alias', source: '- &a [x]\n- *a', want: [['x'], ['x']] },
    { name: 'JSON', source: '{"a":[null]}', want: { a: [null] } },
    { name: 'only a comment', source: '# a comment', want: null },
  ])('reads $name', ({ source, want }) => {
    expect(parseYaml(source)).toEqual({ ok: true, value: want });
  });

  it.each([
    {
      name: 'a repeated key',
      source: 'b: 1\na: 1\n# c\nb: 2',
      want: { code: 'DUPLICATE_KEY', place: { line: 4, column: 1 } },
    },
    {
      name: 'a repeated key in JSON',
      source: '{"a":{"b":1,"b":2}}',
      want: { code: 'DUPLICATE_KEY', place: { line: 1, column: 13 } },
    },
    {
      name: 'a repeated key inside of a key',
      source: '? { b: 1, b: 2 }\n: a',
      want: { code: 'DUPLICATE_KEY', place: { line: 1, column: 11 } },
    },
    {
      name: 'two repeated keys',
      source: 'a: { b: 1, b: 2 }\na: 1',
      want: { code: 'DUPLICATE_KEY', place: { line: 1, column: 12 } },
    },
    { name: 'two empty keys', source: '? \n? ', want: { code: 'DUPLICATE_KEY' } },
    { name: 'a map inside of a scalar', source: 'a: b: c', want: { place: { line: 1, column: 4 } } },
    { name: 'an alias without an anchor', source: '- *a', want: { code: 'ALIASES', place: undefined } },
    {
      name: 'a list that is nested too deeply',
      source: '['.repeat(100_000),
      want: { code: 'NESTING', place: undefined },
    },
    {
      name: 'too many aliases',
      source: aliases(1_001),
      want: { code: 'ALIASES', message: 'it has 1001 aliases, and at most 1000 are allowed' },
    },
  ])('refuses $name', ({ source, want }) => {
    expect(parseYaml(source)).toMatchObject({ ok: false, problem: want });
  });

  it('prints nothing of a key that is a map, which may have a token', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    parseYaml('? { token: s3cret }\n: a');
    await setImmediate();
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });
});
