import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { goesWithoutKubectl, kubectlFolder } from '@kube-semaphore/testkit';
import { expect, it, onTestFinished } from 'vitest';

const launcher = fileURLToPath(new URL('../bin/semaphore.js', import.meta.url));

it('ends without an error if its reader closes the pipe', async () => {
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const shell = ['-c', '"$0" completion bash | true', launcher];
  expect(await promisify(execFile)('sh', shell, { env: { PATH } })).toEqual({ stdout: '', stderr: '' });
});

it.skipIf(goesWithoutKubectl)('is a plugin of kubectl', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'semaphore-plugin-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  await symlink(launcher, join(dir, 'kubectl-semaphore'));
  const PATH = [dir, kubectlFolder, dirname(process.execPath), process.env['PATH']].join(delimiter);
  const { stdout } = await promisify(execFile)('kubectl', ['semaphore', 'check', '--help'], { env: { PATH } });
  expect(stdout).toContain('Usage: kubectl semaphore check ');
});
