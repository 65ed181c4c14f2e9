import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

/** A test in a folder of its own, with a configuration that reports as `vitest.config.ts` does. */
const it = test
  .extend('sources', resolve(import.meta.dirname, '../src'))
  .extend('folder', ({ sources }, { onCleanup }) => {
    const folder = mkdtempSync(join(tmpdir(), 'test-runs-'));
    onCleanup(() => rmSync(folder, { recursive: true }));
    const config = `
      import { reportersInto } from ${JSON.stringify(join(sources, 'report.ts'))};
      const { TEST_REPORTS: reports } = process.env;
      export default { test: {
        reporters: ['default', ...(reports === undefined ? [] : reportersInto(reports, 'process'))],
        projects: [{ test: { name: 'process', globals: true, include: ['*.test.js'] } }],
      } };`;
    writeFileSync(join(folder, 'vitest.config.ts'), config);
    return folder;
  })
  .extend('run', ({ folder, sources }) => ({ reports }: { readonly reports: boolean }) => {
    const env = {
      ...process.env,
      npm_lifecycle_event: 'process',
      TEST_REPORTS: reports ? join(folder, 'reports') : undefined,
    };
    const options = { cwd: folder, env, encoding: 'utf8' } as const;
    const { status } = spawnSync(process.execPath, [join(sources, 'run.ts'), 'process'], options);
    return { status, tries: readFileSync(join(folder, 'tries'), 'utf8').trim().split('\n').toSorted() };
  });

/** The text of a test that notes its tries in a file, and passes after so many. */
const passesAtTry = (name: string, needed: number, more = ''): string => `
  it('${name}', () => {
    const { appendFileSync, readFileSync } = process.getBuiltinModule('node:fs');
    appendFileSync('tries', '${name}\\n');
    ${more}
    expect(readFileSync('tries', 'utf8').split('${name}').length - 1).toBeGreaterThanOrEqual(${needed});
  });`;

describe('in CI', () => {
  it('runs a file with a failed test once more, and only that', ({ folder, run }) => {
    writeFileSync(join(folder, 'late.test.js'), passesAtTry('late', 2));
    writeFileSync(join(folder, 'good.test.js'), passesAtTry('good', 1));
    expect(run({ reports: true })).toEqual({ status: 0, tries: ['good', 'late', 'late'] });
  });

  it('fails if a test fails again', ({ folder, run }) => {
    writeFileSync(join(folder, 'late.test.js'), passesAtTry('late', 3));
    expect(run({ reports: true })).toEqual({ status: 1, tries: ['late', 'late'] });
  });

  it('fails at once if two tests fail', ({ folder, run }) => {
    writeFileSync(join(folder, 'late.test.js'), passesAtTry('late', 2) + passesAtTry('never', 9));
    expect(run({ reports: true })).toEqual({ status: 1, tries: ['late', 'never'] });
  });

  it('fails after an error that belongs to no test, without a second try', ({ folder, run }) => {
    writeFileSync(join(folder, 'late.test.js'), passesAtTry('late', 2));
    writeFileSync(join(folder, 'loose.test.js'), passesAtTry('loose', 1, "Promise.reject(new Error('of no test'));"));
    expect(run({ reports: true })).toEqual({ status: 1, tries: ['late', 'loose'] });
    expect(readFileSync(join(folder, 'reports/process.errors.json'), 'utf8')).toContain('of no test');
  });
});

it("on a developer's machine, a failed test is failed at once", ({ folder, run }) => {
  writeFileSync(join(folder, 'late.test.js'), passesAtTry('late', 2));
  expect(run({ reports: false })).toEqual({ status: 1, tries: ['late'] });
});
