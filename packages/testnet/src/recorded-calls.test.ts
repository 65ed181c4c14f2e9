import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { recordCalls } from './recorded-calls.ts';

it('records the arguments of each call, and runs the program', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'recorded-calls-'));
  try {
    const calls = await recordCalls('expr', dir);
    const call = (...args: readonly string[]) =>
      promisify(execFile)('expr', args, { env: { PATH: `${calls.folder}:${process.env['PATH']}` } });
    const answers = await Promise.all([call('1', '+', '2'), call('length', 'a b')]);
    expect(answers.map(({ stdout }) => stdout)).toEqual(['3\n', '3\n']);
    expect(new Set(await calls.take())).toEqual(
      new Set([
        ['1', '+', '2'],
        ['length', 'a b'],
      ]),
    );
    expect(await calls.take()).toEqual([]);
    await expect(call('1', '/', '0')).rejects.toMatchObject({ code: 2 });
    expect(await calls.take()).toEqual([['1', '/', '0']]);
  } finally {
    await rm(dir, { recursive: true });
  }
});
