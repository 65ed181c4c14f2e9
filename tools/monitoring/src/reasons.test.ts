import { globSync, readFileSync } from 'node:fs';
import { docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';

/** The reason that a source gives for skipping something. */
const REASON =
  /(?:reason: |\b(?:left|no|note|refused|problemOf|skip)\(\s*(?:[^,()]+,\s*)?|\bproblem\((?:key, )?)'([a-z]+(?:-[a-z]+)*)'/g;

/** The second cell of each row, except the header. */
const ROW = /^\| [^|]+ \| `(?!reason`)([a-z-]+)` +\|/gm;

const reasonsIn = (pattern: string): readonly string[] =>
  globSync(pattern, { exclude: ['**/*.test.ts'] }).flatMap((file) =>
    Array.from(readFileSync(file, 'utf8').matchAll(REASON), ([, word = '']) => word),
  );

/** The text of a section, until the next heading. */
function section(page: string, heading: string): string {
  const [, text = ''] = new RegExp(`^#+ ${heading}\\n([^]*?)^#`, 'm').exec(docPage(page)) ?? [];
  return text;
}

describe.each([
  {
    page: 'policy.md',
    heading: 'What is skipped',
    sources: ['apps/policy/src/**/*.ts', 'packages/net/src/allowed.ts'],
  },
  {
    page: 'service-mirror.md',
    heading: 'What is skipped',
    sources: ['apps/service-mirror/src/**/*.ts', 'packages/net/src/allowed.ts'],
  },
  { page: 'wireguard.md', heading: 'Which Nodes become peers', sources: ['apps/wireguard/src/**/*.ts'] },
])('docs/$page', ({ page, heading, sources }) => {
  it('has every reason of skipped_objects, once, and no other', () => {
    const documented = Array.from(section(page, heading).matchAll(ROW), ([, word = '']) => word);
    expect(documented.toSorted()).toEqual([...new Set(sources.flatMap(reasonsIn))].toSorted());
  });
});
