import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { clusterKind } from '@kube-semaphore/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const run = (...args: string[]) => promisify(execFile)(process.execPath, [main, ...args]);

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bench-'));
});
afterEach(() => rm(dir, { recursive: true }));

it('measures the program, and shows the same as table, Markdown and JSON', async () => {
  const [json, markdown] = [join(dir, 'result.json'), join(dir, 'result.md')];
  const extent = '--pods 100 --sets 10 --changes 10 --rollout 20 --settle 0 --idle 1'.split(' ');
  const kind = clusterKind() === 'embedded' ? ['--embedded'] : [];
  const { stdout } = await run('policy', ...extent, ...kind, '--json', json, '--markdown', markdown);
  expect(stdout).toMatch(/^100 pods in 10 sets, 1\d\.\d kB each in protobuf\n/);
  expect(stdout).toMatch(/^20 changes\/s: writes +10$/m);
  expect(await readFile(markdown, 'utf8')).toMatch(/^\| 20 changes\/s: writes +\| +10 \|/m);
  const { results } = JSON.parse(await readFile(json, 'utf8')) as { results: object[] };
  expect(results).toEqual([
    expect.objectContaining({
      coldSync: expect.objectContaining({ requests: { remote: { watch: 1 }, local: { create: 10, get: 1, watch: 1 } } }),
      steady: expect.objectContaining({ changes: 10, writes: 10, requests: { update: 10 } }),
      rollout: expect.objectContaining({ pods: 20 }),
      idleCpuPercent: expect.any(Number),
    }),
  ]);
});

it('says what is wrong with its arguments', async () => {
  await expect(run('policy', '--pods', 'many')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^--pods is a whole number from 1 up\n\nnpm run bench -- policy/),
  });
});
