// Real: actionlint reads the workflows.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findBinaries } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const workflows = fileURLToPath(new URL('../../../../.github/workflows/', import.meta.url));

/** actionlint's findings in workflows, and its exit code. */
async function actionlint(...files: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const binaries = findBinaries(['actionlint']);
  if (!binaries.ok) throw new Error(binaries.reason);
  return run(binaries.paths.actionlint, ['-no-color', '-shellcheck=', '-pyflakes=', ...files]).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    ({ code, stdout }: { readonly code: number; readonly stdout: string }) => ({ code, text: stdout }),
  );
}

it('accepts our workflows', async () => {
  expect(await actionlint(join(workflows, 'ci.yaml'), join(workflows, 'release.yaml'))).toEqual({ code: 0, text: '' });
});

it('finds a job that needs an unknown one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'actionlint-'));
  try {
    const file = join(folder, 'release.yaml');
    await writeFile(
      file,
      (await readFile(join(workflows, 'release.yaml'), 'utf8')).replace('needs: bundles', 'needs: bundle'),
    );
    expect(await actionlint(file)).toMatchObject({
      code: 1,
      text: expect.stringContaining('needs job "bundle"') as string,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
