import { describe, expect, it } from 'vitest';
import { jsonPage, pageOf } from './page.ts';

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
});
