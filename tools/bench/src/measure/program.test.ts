import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startProgram } from './program.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bench-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const start = (script: string) => startProgram(['/bin/sh', '-c', script], join(dir, 'log'));

it('stops a program, without a failure', async () => {
  const program = start('exec sleep 60');
  await program.stop();
  await program.stop();
  expect(program.signal.aborted).toBe(false);
  expect(() => process.kill(program.pid, 0)).toThrow('ESRCH');
});

it.each([
  { name: 'exits', script: 'echo out of order >&2; exit 3', reason: 'exit code 3\nout of order' },
  { name: 'is killed', script: 'kill -9 $$', reason: 'SIGKILL' },
])('tells of a program that $name', async ({ script, reason }) => {
  const { signal } = start(script);
  await once(signal, 'abort');
  expect((signal.reason as Error).message).toContain(`/bin/sh exited: ${reason}`);
});

it('reports a missing program', async () => {
  const { signal } = startProgram([join(dir, 'nothing')], join(dir, 'log'));
  await once(signal, 'abort');
  expect((signal.reason as Error).message).toContain('ENOENT');
});

it('lets a launcher find the Node.js of the bench', async () => {
  const { signal } = start('exec node -p process.execPath');
  await once(signal, 'abort');
  expect(readFileSync(join(dir, 'log'), 'utf8').trim()).toBe(process.execPath);
});
