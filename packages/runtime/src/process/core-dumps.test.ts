import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { keepMemoryFromCoreDumps } from './core-dumps.ts';

const filter = (): string => readFileSync('/proc/self/coredump_filter', 'utf8').trim();

const before = filter();
afterEach(() => void spawnSync('sh', ['-c', `echo 0x${before} > /proc/${process.pid}/coredump_filter`]));

it('keeps the memory of this process, and of its children, out of core dumps', () => {
  expect(keepMemoryFromCoreDumps()).toBeUndefined();
  expect(filter()).toBe('00000000');
  expect(spawnSync('cat', ['/proc/self/coredump_filter'], { encoding: 'utf8' }).stdout.trim()).toBe('00000000');
});

it('does nothing on a system without the filter', () => {
  expect(keepMemoryFromCoreDumps(join(tmpdir(), 'no-such-folder', 'filter'))).toBeUndefined();
});

it('returns why it failed', () => {
  expect(keepMemoryFromCoreDumps(tmpdir())).toMatchObject({ code: 'EISDIR' });
});
