// Real: promtool reads the rules.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtBinary } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { chartsOf, queryOf, readDashboards } from '../../src/dashboard.ts';
import { monitoring } from '../../src/rule-file.ts';

const run = promisify(execFile);

/** The output and the exit code of promtool. */
async function promtool(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  return run(builtBinary('promtool'), args).then(
    ({ stdout, stderr }) => ({ code: 0, text: stdout + stderr }),
    ({ code, stdout, stderr }: { readonly code: number; readonly stdout: string; readonly stderr: string }) => ({
      code,
      text: stdout + stderr,
    }),
  );
}

const filesIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(join(monitoring, folder))).map((file) => join(monitoring, folder, file));

it('accepts the rules', async () => {
  const { code, text } = await promtool('check', 'rules', '--lint=all', '--lint-fatal', ...(await filesIn('rules')));
  expect({ code, text }).toMatchObject({ code: 0 });
  expect(text.match(/SUCCESS: \d+ rules found/g)).toHaveLength(3);
});

it('sees every alert fire when it should, and only then', async () => {
  const { code, text } = await promtool('test', 'rules', ...(await filesIn('tests')));
  expect({ code, text }).toMatchObject({ code: 0 });
  expect(text.match(/SUCCESS/g)).toHaveLength(3);
});

it('understands the queries of all dashboards', async () => {
  const rules = readDashboards().flatMap(({ dashboard }) =>
    chartsOf(dashboard).flatMap(({ targets }) => targets.map(({ expr }) => queryOf(expr))),
  );
  const folder = await mkdtemp(join(tmpdir(), 'promtool-'));
  try {
    const file = join(folder, 'queries.json');
    await writeFile(
      file,
      JSON.stringify({
        groups: [{ name: 'queries', rules: rules.map((expr, i) => ({ record: `query_${i}`, expr })) }],
      }),
    );
    const { code, text } = await promtool('check', 'rules', file);
    expect({ code, text }).toMatchObject({ code: 0 });
    expect(text).toContain(`SUCCESS: ${rules.length} rules found`);
  } finally {
    await rm(folder, { recursive: true });
  }
});
