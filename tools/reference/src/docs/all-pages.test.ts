import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documented } from '../pages.ts';
import { callsIn, pathsIn, scriptsIn, typedIn, yamlIn } from './commands.ts';
import { readMarkdown } from './markdown.ts';
import { type Kind, kindsIn } from './yaml-kind.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const paths = globSync([
  '*.md',
  'docs/**/*.md',
  'deploy/**/*.md',
  'gatekeeper/**/*.md',
  'monitoring/**/*.md',
  'tools/*/*.md',
]);
const pages = paths.toSorted().map((path) => ({ path, text: read(path), ...readMarkdown(read(path)) }));
const blocks = pages.flatMap(({ path, blocks: of }) =>
  of.map((block) => ({ ...block, path, at: `${path}:${block.line}` })),
);

const scripts = blocks.flatMap((block) => {
  if (block.language === 'sh') return [block];
  return block.language === 'console' ? [{ ...block, text: typedIn(block.text) }] : [];
});
const documents = [
  ...blocks.filter(({ language }) => language === 'yaml' || language === 'json'),
  ...scripts.flatMap((block) => yamlIn(block.text).map((text) => ({ ...block, text }))),
];

/** Every variable, also old ones, and every metric. */
const names = new Set(
  documented.flatMap(({ options, metrics }) => [
    ...options.flatMap(({ env, aliases = [] }) => [env, ...aliases]),
    ...metrics.map(({ name }) => name),
  ]),
);
const { scripts: npmScripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
/** by-hand copies the example to `mine`. */
const existing = (path: string) => path.replace('deploy/overlays/mine', 'deploy/overlays/example');

const flagsOf = (name: string): readonly string[] => {
  const { options } = documented.find(({ program }) => program.name === name)!;
  return [
    'h',
    'help',
    'version',
    ...options.flatMap(({ flag, olderFlags = [] }) => (flag === undefined ? [] : [flag, ...olderFlags])),
  ];
};

describe('the pages', () => {
  it('are found, with many blocks', () => {
    expect(paths).toEqual(
      expect.arrayContaining(['README.md', 'CONTRIBUTING.md', 'docs/getting-started.md', 'docs/policy.md']),
    );
    expect([scripts.length, documents.length].every((count) => count > 20)).toBe(true);
  });

  it.each(blocks)('have blocks of known languages: $at', ({ language, takes }) => {
    expect(['', 'text', 'sh', 'console', 'yaml', 'json', 'mermaid']).toContain(language);
    expect(language === 'sh' ? ['', 'kind', 'pods', 'calico', 'registry'] : ['']).toContain(takes);
  });

  it.each(pages)('name only scripts of package.json: $path', ({ text }) => {
    for (const script of scriptsIn(text)) expect(Object.keys(npmScripts)).toContain(script);
  });

  it.each(pages)('name only existing variables and metrics: $path', ({ text }) => {
    const named = Array.from(
      text.matchAll(/\b(?:SP|SSM|SWG)_[A-Z][A-Z_]+\b|\bsemaphore_(?:policy|service_mirror|wg)_[a-z_]+[a-z]\b/g),
      ([name]) => name,
    );
    const short = Array.from(text.matchAll(/`…(_[A-Za-z_]+)/g), ([, end = '']) => end);
    expect(named.filter((name) => !names.has(name.replace(/_(?:bucket|sum|count)$/, '')))).toEqual([]);
    expect(short.filter((end) => ![...names].some((name) => name.endsWith(end)))).toEqual([]);
  });

  it.each(pages.filter(({ path }) => !path.startsWith('docs/reference/')))(
    'name only existing flags: $path',
    ({ text }) => {
      const flags = documented.flatMap(({ program }) => flagsOf(program.name));
      for (const [, flag] of text.matchAll(/(?<=[` ])-([a-z]+(?:-[a-z]+)+)\b/g)) expect(flags).toContain(flag);
    },
  );

  it.each(pages)('have only links with a target: $path', ({ path, links }) => {
    expect(links.filter((link) => !leadsSomewhere(link, path))).toEqual([]);
  });

  it('are all in the index', () => {
    const { links } = readMarkdown(read('docs/README.md'));
    const indexed = links.map((link) => join('docs', link));
    for (const path of globSync('docs/**/*.md').filter((page) => page !== 'docs/README.md'))
      expect(indexed).toContain(path);
  });
});

describe('commands', () => {
  it.each(scripts)('are bash: $at', ({ text }) => {
    expect(() => execFileSync('bash', ['-n'], { input: text, stdio: 'pipe' })).not.toThrow();
  });

  it.each(scripts)('use existing files: $at', ({ text }) => {
    const folders = Array.from(text.matchAll(/ -k (\S+)/g), ([, folder = '']) => folder);
    expect(pathsIn(text).filter((path) => globSync(existing(path)).length === 0)).toEqual([]);
    expect(folders.filter((folder) => !existsSync(join(existing(folder), 'kustomization.yaml')))).toEqual([]);
  });

  it.each(scripts.flatMap(({ at, text }) => callsIn(text).map((call) => ({ at, ...call }))))(
    'call $program with existing flags: $at',
    ({ program, subcommand, flags }) => {
      const { subcommands = [] } = documented.find(({ program: { name } }) => name === program)!.program;
      expect([undefined, ...subcommands.map(({ name }) => name)]).toContain(subcommand);
      for (const flag of flags) expect(flagsOf(program)).toContain(flag);
    },
  );
});

describe('manifests and files', () => {
  it.each(documents)('are of a known kind: $at', ({ text }) => {
    const kinds = kindsIn(text);
    expect(kinds).not.toEqual([]);
    expect(kinds.filter((kind) => 'unknown' in kind)).toEqual([]);
  });

  /** Pages about the config of an app that isn't their name. */
  const apps: Readonly<Record<string, string>> = { routing: 'service-mirror' };

  /** `docs.test.ts` of the page's app reads them by heading. */
  it.each(documents.filter(({ text }) => kindsIn(text).some(isConfig)))(
    'have a test in the app, if they are config: $at',
    ({ path, heading }) => {
      const [, page = ''] = /^docs\/(.*)\.md$/.exec(path) ?? [];
      expect(read(`apps/${apps[page] ?? page}/test/docs.test.ts`)).toContain(`'${heading}'`);
    },
  );
});

it.each(blocks.filter(({ language }) => language === 'mermaid'))(
  'a diagram is of a known Mermaid type: $at',
  ({ text }) => {
    expect(text).toMatch(/^(?:flowchart (?:LR|TD|TB)|sequenceDiagram|stateDiagram-v2)\n/);
  },
);

function isConfig(kind: Kind): boolean {
  return 'part' in kind && kind.part === 'config';
}

/** Whether a link of a page has a target: an existing file and anchor. External links aren't checked. */
function leadsSomewhere(link: string, path: string): boolean {
  if (/^https?:/.test(link)) return true;
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? path : join(dirname(path), file);
  return existsSync(target) && (anchor === undefined || readMarkdown(read(target)).anchors.has(anchor));
}
