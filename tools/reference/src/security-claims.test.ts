import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const page = readFileSync('docs/security.md', 'utf8');

/** Links as `[test](path "title of the test")`. */
const tests = Array.from(page.matchAll(/\[test\]\((\S+) "((?:[^"\\]|\\.)+)"\)/g), ([, path = '', title = '']) => ({ path: join('docs', path), title: title.replaceAll('\\"', '"') }));

/** What the page says in lists, each item up to the next line that isn't its own. */
const claims = Array.from(page.matchAll(/^- .*(?:\n {2}.*)*/gm), ([text]) => ({ text: text.replaceAll(/\s+/g, ' '), begins: text.slice(2, 60) }));

describe('docs/security.md', () => {
  it.each(tests)('leads to a test that is there: $title', ({ path, title }) => {
    expect(existsSync(path) && readFileSync(path, 'utf8')).toContain(title);
  });

  it.each(claims)('shows by a test that $begins', ({ text }) => {
    expect(text).toMatch(/\(\[test\]\(/);
  });

  it('has both, and no link of another form', () => {
    expect(claims.length).toBeGreaterThan(15);
    expect(tests.length).toBeGreaterThan(claims.length);
    expect(page.match(/\]\(/g)).toHaveLength(tests.length);
  });
});
