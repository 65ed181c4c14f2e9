import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

const folder = new URL('../../../docs/', import.meta.url);
const page = new URL('policy.md', folder);
const refusal =
  'tools/boundaries/src/guard-reads.test.ts reads docs/policy.md: add it to nx.namedInputs.reads in tools/boundaries/package.json';

it.each([
  { name: 'reads a file', read: () => readFileSync(page) },
  { name: 'reads a file by its path', read: () => readFileSync(page.pathname, 'utf8') },
  { name: 'starts a program with the path of a file', read: () => execFileSync('cat', [page.pathname]) },
  { name: 'starts a shell with the path of a file', read: () => execFileSync('sh', ['-c', `cat '${page.pathname}'`]) },
])('refuses a test that $name outside the inputs of its project', ({ read }) => {
  expect(read).toThrow(refusal);
});

it('refuses a test that reads asynchronously', async () => {
  await expect(async () => readFile(page)).rejects.toThrow(refusal);
  await expect(async () => readdir(folder)).rejects.toThrow('reads docs: add it');
});

it('lets a test read the files of its project', async () => {
  expect(await readFile(new URL('rules.ts', import.meta.url), 'utf8')).toContain('libraryArrows');
});
