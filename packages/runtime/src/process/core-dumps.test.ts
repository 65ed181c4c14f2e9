import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { keepMemoryFromCoreDumps } from './core-dumps.ts';

const filter = (): string => readFileSync('/proc/self/coredump_filter', 'utf8').trim();

const before = filter();
afterEach(() => void spawnSync('sh', ['-c', `echo 0x${before} > /proc/${process.pid}/coredump_filter`]));

it('leaves no memory of this process, and of those that it starts, to a core dump', () => {
  expect(keepMemoryFromCoreDumps()).toBeUndefined();
  expect(filter()).toBe('00000000');
  expect(spawnSync('cat', ['/proc/self/coredump_filter'], { encoding: 'utf8' }).stdout.trim()).toBe('00000000');
});

it('has nothing to do where there is no such thing', () => {
  expect(keepMemoryFromCoreDumps(join(tmpdir(), 'no-such-folder', 'filter'))).toBeUndefined();
});

it('tells why it can not be done', () => {
  expect(keepMemoryFromCoreDumps(tmpdir())).toMatchObject({ code: 'EISDIR' });
});
