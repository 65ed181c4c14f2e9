import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { generatePrivateKey } from '../src/keys.ts';
import { runFor, runTool } from '../src/run-tool.ts';

const signal = new AbortController().signal;
const secret = generatePrivateKey().reveal();

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'run-tool-'));
});
afterEach(() => rm(dir, { recursive: true }));

/** A program that does what a shell script says; `$0` is in the folder of the test. */
async function tool(script: string): Promise<string> {
  const file = join(dir, 'tool');
  await writeFile(file, `#!/bin/sh\n${script}`, { mode: 0o755 });
  return file;
}

/** The pid that the tool wrote into the file `pid`, if it did. */
async function saidPid(): Promise<number | undefined> {
  const text = await readFile(join(dir, 'pid'), 'utf8').catch(() => '');
  return text.endsWith('\n') ? Number(text) : undefined;
}

/** The same, once it is there. */
const pidOf = () => eventually(saidPid, isDefined);

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // no such process
  }
};

const sleeper = `echo $$ > "$(dirname "$0")/pid"; exec sleep 1000`;

it('returns the output of the tool', async () => {
  expect(await runTool(await tool('echo "$@"'), ['a b', ''], { signal })).toBe('a b ');
});

it('never lets wg wait for a name server', async () => {
  expect(await runTool(await tool('echo "$WG_ENDPOINT_RESOLUTION_RETRIES"'), [], { signal })).toBe('0');
});

it('rejects with the words of the tool, and their code', async () => {
  const file = await tool('echo \'Cannot find device "wg0"\' >&2; exit 1');
  const call = runTool(file, ['link', 'set'], { signal });
  await expect(call).rejects.toMatchObject({
    code: 'WG_NO_DEVICE',
    message: expect.stringMatching(/: Cannot find device "wg0"$/) as string,
  });
});

it('shows no key from the output or the arguments', async () => {
  const file = await tool(`echo ${secret}; echo ${secret} >&2; exit 1`);
  const error: unknown = await runTool(file, ['set', secret], { signal }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'WG_FAILED' });
  expect(inspect(error, { showHidden: true, depth: 9 })).not.toContain(secret.slice(0, 30));
});

it.each([
  { name: 'exit code 3', script: 'exit 3' },
  { name: 'SIGKILL', script: 'kill -KILL $$' },
])('says $name where the tool says nothing', async ({ name, script }) => {
  await expect(runTool(await tool(script), [], { signal })).rejects.toThrow(name);
});

it('says that a tool is not installed', async () => {
  const call = runTool('no-such-tool', [], { signal });
  await expect(call).rejects.toMatchObject({ code: 'WG_NOT_INSTALLED', message: 'no-such-tool is not installed' });
});

it('kills a tool that does not answer', async () => {
  const file = await tool(sleeper);
  let timeoutMs = 250;
  // On a busy machine, it may be killed before it has said its pid.
  do {
    timeoutMs *= 2;
    await expect(runFor(timeoutMs, file, [], { signal })).rejects.toMatchObject({ code: 'WG_DEADLINE' });
  } while ((await saidPid()) === undefined);
  const pid = await pidOf();
  await eventually(() => isAlive(pid), false);
});

it('kills the tool and rejects with the reason when the signal is aborted', async () => {
  const controller = new AbortController();
  const call = runFor(1_000_000, await tool(sleeper), [], { signal: controller.signal });
  const pid = await pidOf();
  const reason = new Error('shutdown');
  controller.abort(reason);
  await expect(call).rejects.toBe(reason);
  await eventually(() => isAlive(pid), false);
});

it('starts nothing if the signal is already aborted', async () => {
  const file = await tool('touch "$(dirname "$0")/started"');
  await expect(runTool(file, [], { signal: AbortSignal.abort(new Error('shutdown')) })).rejects.toThrow('shutdown');
  await expect(readFile(join(dir, 'started'))).rejects.toThrow('ENOENT');
});
