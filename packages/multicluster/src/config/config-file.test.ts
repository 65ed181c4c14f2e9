import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { durationOf, parseConfigFile } from './config-file.ts';

const schema = z.strictObject({
  local: z.optional(z.strictObject({ path: z.string() })),
  remotes: z.array(z.strictObject({ name: z.string() })).check(z.minLength(1)),
});

const parsed = (source: string, unknownKeys: 'error' | 'warning' = 'error') =>
  parseConfigFile(source, schema, { unknownKeys });

describe('parseConfigFile', () => {
  it.each([
    { format: 'JSON', source: '{"remotes": [{"name": "c2"}]}' },
    { format: 'YAML', source: 'remotes:\n  - name: c2\n' },
  ])('reads $format', ({ source }) => {
    expect(parsed(source)).toEqual({ ok: true, value: { remotes: [{ name: 'c2' }] }, warnings: [] });
  });

  it.each([
    {
      name: 'is incomplete JSON',
      source: '{"remotes": [',
      want: [/^it is not JSON: Unexpected end of JSON input$/],
    },
    {
      name: 'is JSON with a mistake',
      source: '{\n  "local": {}\n  "remotes": 1\n}',
      want: [/^it is not JSON: line 3, column 3: Expected ',' or '}' after property value$/],
    },
    {
      name: 'is JSON with an unknown word',
      source: '{"remotes": s3cret, "x" y}',
      want: [/^it is not JSON: Unexpected token 's'$/],
    },
    {
      name: 'is too large',
      source: `# ${'é'.repeat(64 * 1024)}`,
      want: [/^it has 131074 bytes, at most 131072 are allowed$/],
    },
    {
      name: 'is YAML with a mistake',
      source: 'remotes: a: b',
      want: [/^it is not YAML: Nested mappings .* at line 1, column 10$/],
    },
    {
      name: 'contains itself',
      source: '&all [*all]',
      want: [/^it is not YAML: an alias leads to what contains it$/],
    },
    {
      name: 'is JSON in too many brackets',
      source: `{"remotes": ${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
      want: [/^it is nested too deeply$/],
    },
    { name: 'is empty', source: '', want: [/^it is empty$/] },
    { name: 'has comments only', source: '# remotes:\n', want: [/^it is empty$/] },
    { name: 'is null', source: 'null', want: [/^it is empty$/] },
    { name: 'has an empty list', source: 'remotes: []', want: [/^remotes: Too small/] },
    {
      name: 'has a field of another type',
      source: 'remotes: [{ name: 7 }]',
      want: [/^remotes\[0\]\.name: .*expected string, received number/],
    },
    {
      name: 'has unknown keys',
      source: 'x: 1\nremote: x\nremotes: [{ name: c2, nome: c2, remotes: [] }]\n',
      want: [
        /^remotes\[0\]: the key remotes belongs in another section$/,
        /^remotes\[0\]: unknown key nome, did you mean name\?$/,
        /^the file: unknown key remote, did you mean remotes\?$/,
        /^the file: unknown key x$/,
      ],
    },
  ])('refuses a file that $name', ({ source, want }) => {
    const file = parsed(source);
    expect(file.ok ? [] : file.problems.toSorted()).toEqual(want.map((pattern) => expect.stringMatching(pattern)));
  });

  it('names the invalid entry of a list that may also be a text', () => {
    const subnets = z.strictObject({ podSubnet: z.union([z.string(), z.array(z.string())]) });
    const problemsOf = (source: string) => {
      const file = parseConfigFile(source, subnets, { unknownKeys: 'error' });
      return file.ok ? [] : file.problems;
    };
    expect(problemsOf('podSubnet: [a, 1, b, 2]')).toEqual([
      expect.stringMatching(/^podSubnet\[1\]: .*expected string, received number/),
      expect.stringMatching(/^podSubnet\[3\]: /),
    ]);
    expect(problemsOf('podSubnet: 1')).toEqual([expect.stringMatching(/^podSubnet: /)]);
  });

  it('ignores unknown keys that are not like ours if the Go programs do, with a warning', () => {
    expect(parsed('comment: x\nremotes: [{ name: c2, owner: c2 }]\n', 'warning')).toEqual({
      ok: true,
      value: { remotes: [{ name: 'c2' }] },
      warnings: ['remotes[0]: unknown key owner', 'the file: unknown key comment'],
    });
  });

  it.each([
    {
      name: 'misspelled',
      source: 'remotes: [{ name: c2, nme: c2 }]',
      want: 'remotes[0]: unknown key nme, did you mean name?',
    },
    {
      name: 'in the wrong place',
      source: 'name: c2\nremotes: [{ name: c2 }]',
      want: 'the file: the key name belongs in another section',
    },
  ])('refuses a key that is $name, even if the Go programs ignore it', ({ source, want }) => {
    expect(parsed(source, 'warning')).toEqual({ ok: false, problems: [want] });
  });

  it('reads keys in any case if the Go programs do', () => {
    const source = 'Remotes: [{ NAME: c2, owner: c2 }]';
    const warnings = ['remotes[0]: unknown key owner'];
    expect(parsed(source, 'warning')).toEqual({ ok: true, value: { remotes: [{ name: 'c2' }] }, warnings });
    expect(parsed(source)).toMatchObject({ ok: false });
  });

  it('refuses a file that has another problem besides unknown keys', () => {
    expect(parsed('comment: x\nremotes: [{ name: 7 }]\n', 'warning')).toEqual({
      ok: false,
      problems: [expect.stringMatching(/^remotes\[0\]\.name: /)],
    });
  });
});

describe('durationOf', () => {
  it.each([
    { value: '1h', want: 3_600_000 },
    { value: 1_500_000_000, want: 1_500 },
    { value: 0, want: 0 },
    { value: '0', want: 0 },
  ])('reads $value as Go does', ({ value, want }) => {
    expect(durationOf(value, 5)).toEqual({ ok: true, value: want });
  });

  it.each([undefined, ''])('is the default for %j', (value) => {
    expect(durationOf(value, 5)).toEqual({ ok: true, value: 5 });
  });

  it.each(['1', 'soon', Infinity, '-1h', -1])('refuses %s', (value) => {
    expect(durationOf(value, 5)).toMatchObject({ ok: false });
  });
});
