import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { durationOf, parseConfigFile } from './config-file.ts';

const schema = z.strictObject({
  local: z.optional(z.strictObject({ path: z.string() })),
  remotes: z.array(z.strictObject({ name: z.string() })).check(z.minLength(1)),
});

const parsed = (source: string, unknownKeys: 'error' | 'warning' = 'error') => parseConfigFile(source, schema, { unknownKeys });

describe('parseConfigFile', () => {
  it.each([
    { format: 'JSON', source: '{"remotes": [{"name": "c2"}]}' },
    { format: 'YAML', source: 'remotes:\n  - name: c2\n' },
  ])('reads $format', ({ source }) => {
    expect(parsed(source)).toEqual({ ok: true, value: { remotes: [{ name: 'c2' }] }, warnings: [] });
  });

  it.each([
    { name: 'is neither YAML nor JSON', source: '{"remotes": [', want: [/^it is neither YAML nor JSON: /] },
    { name: 'has an end that is its beginning', source: '&all [*all]', want: [/^it is neither YAML nor JSON: .*circular/] },
    { name: 'is empty', source: '', want: [/^the file: .*expected object, received null/] },
    { name: 'has an empty list', source: 'remotes: []', want: [/^remotes: Too small/] },
    { name: 'has a field of another type', source: 'remotes: [{ name: 7 }]', want: [/^remotes\[0\]\.name: .*expected string, received number/] },
    {
      name: 'has keys that nobody knows, all of them named',
      source: 'remote: x\nremotes: [{ name: c2, nome: c2 }]\n',
      want: [/^remotes\[0\] has unknown keys: nome$/, /^the file has unknown keys: remote$/],
    },
  ])('refuses a file that $name', ({ source, want }) => {
    const file = parsed(source);
    expect(file.ok ? [] : file.problems.toSorted()).toEqual(want.map((pattern) => expect.stringMatching(pattern)));
  });

  it('names the entry of a list that is wrong, where a text would do as well', () => {
    const subnets = z.strictObject({ podSubnet: z.union([z.string(), z.array(z.string())]) });
    const problemsOf = (source: string) => {
      const file = parseConfigFile(source, subnets, { unknownKeys: 'error' });
      return file.ok ? [] : file.problems;
    };
    expect(problemsOf('podSubnet: [a, 1, b, 2]')).toEqual([expect.stringMatching(/^podSubnet\[1\]: .*expected string, received number/), expect.stringMatching(/^podSubnet\[3\]: /)]);
    expect(problemsOf('podSubnet: 1')).toEqual([expect.stringMatching(/^podSubnet: /)]);
  });

  it('passes over unknown keys where the Go programs do, and names them', () => {
    expect(parsed('remote: x\nremotes: [{ name: c2, nome: c2 }]\n', 'warning')).toEqual({
      ok: true,
      value: { remotes: [{ name: 'c2' }] },
      warnings: ['remotes[0] has unknown keys: nome', 'the file has unknown keys: remote'],
    });
  });

  it('names unknown keys of the document that the schema is shown', () => {
    const prepare = () => ({ remotes: [{ name: 'c2', nome: 'c2' }] });
    const warnings = ['remotes[0] has unknown keys: nome'];
    expect(parseConfigFile('Remotes: []', schema, { unknownKeys: 'warning', prepare })).toEqual({ ok: true, value: { remotes: [{ name: 'c2' }] }, warnings });
  });

  it('refuses what is wrong besides', () => {
    expect(parsed('remote: x\nremotes: [{ name: 7 }]\n', 'warning')).toEqual({ ok: false, problems: [expect.stringMatching(/^remotes\[0\]\.name: /)] });
  });
});

describe('durationOf', () => {
  it.each([
    { value: '1h', want: 3_600_000 },
    { value: 1_500_000_000, want: 1_500 },
    { value: 0, want: 0 },
    { value: '0', want: 0 },
  ])('reads $value as Go does', ({ value, want }) => {
    expect(durationOf(value)).toEqual({ ok: true, value: want });
  });

  it.each(['1', 'soon', Infinity])('refuses %s', (value) => {
    expect(durationOf(value)).toMatchObject({ ok: false });
  });
});
