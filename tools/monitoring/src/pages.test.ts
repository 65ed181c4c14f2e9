import { globSync, readFileSync } from 'node:fs';
import { docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { tables } from './exported.ts';
import { readAlerts } from './rule-file.ts';

/** The reason that a source gives for skipping something. */
const REASON =
  /(?:reason: |\b(?:left|no|note|refused|problemOf|skip)\(\s*(?:[^,()]+,\s*)?|\bproblem\((?:key, )?)'([a-z]+(?:-[a-z]+)*)'/g;

/** The words before the colon of an item of a list: reasons, or metrics without their prefix. */
const ITEM = /^- ((?:`[a-z0-9_-]+`(?:\\\*)?(?:, )?)+):/gm;

const reasonsIn = (pattern: string): readonly string[] =>
  globSync(pattern, { exclude: ['**/*.test.ts'] }).flatMap((file) =>
    Array.from(readFileSync(file, 'utf8').matchAll(REASON), ([, word = '']) => word),
  );

/** The text of a section, until the next heading. */
function section(page: string, heading: string): string {
  const [, text = ''] = new RegExp(`^#+ ${heading}\\n([^]*?)^#`, 'm').exec(`${docPage(page)}\n#`) ?? [];
  return text;
}

const itemsOf = (text: string): readonly string[] =>
  Array.from(text.matchAll(ITEM), ([, words = '']) => words.match(/[a-z0-9_-]+/g) ?? []).flat();

const shared = ['packages/net/src/refused-address.ts', 'packages/multicluster/src/local/refusal.ts'];

describe.each([
  {
    page: 'policy.md',
    heading: 'What is skipped',
    sources: ['apps/policy/src/**/*.ts', 'packages/network-policies/src/**/*.ts', ...shared],
  },
  {
    page: 'service-mirror.md',
    heading: 'What is skipped',
    sources: ['apps/service-mirror/src/**/*.ts', ...shared],
  },
  { page: 'wireguard.md', heading: 'Which Nodes become peers', sources: ['apps/wireguard/src/**/*.ts'] },
])('docs/$page', ({ page, heading, sources }) => {
  it('has every reason of skipped_objects, once, and no other', () => {
    const documented = itemsOf(section(page, heading));
    expect(documented.toSorted()).toEqual([...new Set(sources.flatMap(reasonsIn))].toSorted());
  });
});

const common = itemsOf(section('concepts.md', 'Common metrics'));

describe.each(readAlerts())('the metrics of $app', ({ app, rules }) => {
  const names = Object.values(tables[app as keyof typeof tables]).map(({ name }) => name);
  const prefix = names[0]!.replace(/remote_up$/, '');
  const own = itemsOf(section(`${app.replace('semaphore-', '')}.md`, 'Metrics'));
  const queries = rules.map(({ expr }) => expr).join('\n');

  it.each(names)('include %s, which an alert watches, or a page says when to act on', (name) => {
    expect(
      new RegExp(`\\b${name}(?:_bucket)?\\b`).test(queries) || [...own, ...common].includes(name.slice(prefix.length)),
    ).toBe(true);
  });

  it('are those on its page', () => {
    expect(own).not.toEqual([]);
    expect(own.filter((name) => !names.includes(`${prefix}${name}`))).toEqual([]);
  });
});
