import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Measured } from '../../src/growth/results.ts';
import { runBench } from '../support/bench.ts';

it('measures an agent with two remotes, each with a device of its own', async ({ signal }) => {
  const dir = await mkdtemp(join(tmpdir(), 'growth-'));
  try {
    const results = join(dir, 'results.json');
    const size = '--app wireguard --remotes 2 --percent 10 --changes 2 --settle 0'.split(' ');
    await runBench(['growth', ...size, '--results', results, '--pictures', dir], { signal });
    const [measured] = JSON.parse(await readFile(results, 'utf8')) as Measured[];
    expect(measured).toMatchObject({
      app: 'wireguard',
      remotes: 2,
      figures: { 'one change: calls of wg set': [1], 'memory of all wireguard-go': [expect.any(Number), 'MB'] },
    });
  } finally {
    await rm(dir, { recursive: true });
  }
});
