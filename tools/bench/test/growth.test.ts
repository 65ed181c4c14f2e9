import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runBench } from './support/bench.ts';

/** wireguard needs root. */
const apps = ['policy', 'companions', 'service-mirror'];

it('measures each app with two numbers of remotes, adds idle ones, and draws both', async ({ signal }) => {
  const dir = await mkdtemp(join(tmpdir(), 'growth-'));
  try {
    const growth = async (size: string): Promise<string> => {
      const args = ['growth', ...size.split(' '), '--settle', '0', '--results', join(dir, 'r.json'), '--pictures', dir];
      return (await runBench(args, { signal })).stdout;
    };
    await growth(`--app ${apps.join(' ')} --remotes 1,2 --percent 2 --changes 6 --rate 20`);
    const table = await growth('--remotes 2 --percent 0 --app policy');
    for (const app of apps) expect(table).toContain(`${app}, 2 %:\n\n| remotes `);
    expect(table).toMatch(/^\| all written after +\| +\d+\.\d\d s \| +\d+\.\d\d s \| +\d+\.\d\d \|$/m);
    expect(table.match(/^\| requests per change .*/gm)).toHaveLength(apps.length);
    expect(table).toContain('policy, idle:\n\n| remotes ');
    expect((await readdir(dir)).filter((file) => file.endsWith('.svg'))).toHaveLength(9);
  } finally {
    await rm(dir, { recursive: true });
  }
});
