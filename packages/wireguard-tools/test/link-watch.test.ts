import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchLinks } from '../src/link-watch.ts';

const signal = new AbortController().signal;
const EVENTS = String.raw`echo '7: wireguard.c2: <NOARP,UP> mtu 1420 qdisc noqueue state UNKNOWN group default \    link/none'
echo 'Deleted 8: wireguard.c3: <NOARP> mtu 1420 qdisc noop state DOWN group default \    link/none'`;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'link-watch-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(dir, { recursive: true });
});

/** A program `ip` that does what a shell script says. */
async function standIn(script: string): Promise<void> {
  await writeFile(join(dir, 'ip'), `#!/bin/sh\necho $$ > ${dir}/pid\necho "$@" > ${dir}/args\n${script}\n`, {
    mode: 0o755,
  });
  vi.stubEnv('PATH', `${dir}:${process.env['PATH']}`);
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // no such process
  }
};

it('reports each changed link at once, until it is stopped', async () => {
  await standIn(`${EVENTS}\nexec sleep 1000`);
  const names: string[] = [];
  const stopping = new AbortController();
  const watching = watchLinks((name) => names.push(name), stopping);
  await eventually(() => names, ['wireguard.c2', 'wireguard.c3']);
  expect(await readFile(join(dir, 'args'), 'utf8')).toBe('-oneline monitor link\n');
  const pid = Number(await readFile(join(dir, 'pid'), 'utf8'));
  expect(isAlive(pid)).toBe(true);
  stopping.abort();
  await watching;
  await eventually(() => !isAlive(pid), true);
});

it('rejects with the words of a program that ends, after its reports', async () => {
  await standIn(`${EVENTS}\necho 'Failed to open: Permission denied' >&2\nexit 1`);
  const names: string[] = [];
  await expect(watchLinks((name) => names.push(name), { signal })).rejects.toMatchObject({
    code: 'WG_DENIED',
    message: 'ip monitor link: Failed to open: Permission denied',
  });
  expect(names).toEqual(['wireguard.c2', 'wireguard.c3']);
});

it('rejects if a program ends without a word, or is not installed', async () => {
  await standIn('exit 0');
  await expect(watchLinks(() => undefined, { signal })).rejects.toMatchObject({
    code: 'WG_FAILED',
    message: 'ip monitor link: exit code 0',
  });
  vi.stubEnv('PATH', join(dir, 'nothing'));
  await expect(watchLinks(() => undefined, { signal })).rejects.toMatchObject({ code: 'WG_NOT_INSTALLED' });
});

it('starts nothing if the signal is already aborted', async () => {
  await standIn('');
  await watchLinks(() => undefined, { signal: AbortSignal.abort() });
  await expect(readFile(join(dir, 'args'))).rejects.toThrow('ENOENT');
});
