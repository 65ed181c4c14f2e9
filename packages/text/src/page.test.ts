import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { jsonPage, pageOf, yamlPage } from './page.ts';

describe('a page for people', () => {
  it('has exactly the given lines, whatever is in them', () => {
    expect(pageOf(['create  a', 'skip!   x\ndelete  b\u001b[1A', ''])).toBe(
      'create  a\nskip!   x\\ndelete  b\\u001b[1A\n\n',
    );
  });
});

describe('a page for programs', () => {
  it('has its texts cut, and control characters escaped', () => {
    const printed = jsonPage({ subject: 'x'.repeat(3_000_000), detail: '\u009b2J', nets: ['10.4.0.1/32'] });
    expect(printed).toMatch(/\n {2}"detail": "\\u009b2J",\n/);
    expect(JSON.parse(printed)).toEqual({ subject: `${'x'.repeat(1023)}…`, detail: '\u009b2J', nets: ['10.4.0.1/32'] });
  });

  it('has the same in YAML, where no text is read as another type, a key, or a line of its own', () => {
    const hostile = 'a\u202e\u009b2J\nproblems: []\n---\u2028\u0085';
    const value = {
      ok: true,
      count: 1.5,
      nothing: null,
      lists: [[], ['yes', 'no', '1e3', '~', '# x', 'a: b', '- c']],
      [hostile]: { detail: hostile },
      subject: 'x'.repeat(3_000),
    };
    const printed = yamlPage(value);
    expect(printed.replaceAll('\n', '')).toMatch(/^[ -~…]*$/);
    for (const version of ['1.1', '1.2'] as const)
      expect(parse(printed, { version })).toEqual(JSON.parse(jsonPage(value)));
    expect(printed.split('\n').slice(0, 3)).toEqual(['ok: true', 'count: 1.5', 'nothing: null']);
  });
});
