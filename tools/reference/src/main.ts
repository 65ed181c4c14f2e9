import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { pages } from './pages.ts';
import { rightsPage } from './rights.ts';

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

const files = {
  ...Object.fromEntries(Object.entries(pages).map(([name, page]) => [join('docs', 'reference', name), page])),
  [join('apps', 'cli', 'src', 'check', 'facts', 'rights.json')]: rightsPage(),
};

for (const [path, page] of Object.entries(files)) {
  if (values.check) {
    if ((await textOf(path)) === page) continue;
    console.error(`${path} is stale: refresh it with "npm run reference"`);
    process.exitCode = 1;
  } else {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, page);
  }
}

/** The page, or undefined if there isn't one. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
