import { expect, it } from 'vitest';
import { runBench } from './support/bench.ts';

it('measures a change of each kind with many remotes and with two', async ({ signal }) => {
  // Each changes once: so no change overtakes another, however busy the machine is.
  const size = '--remotes 3 --services 4 --changes 4 --rate 20 --settle 0 --repeat 1'.split(' ');
  const { stdout } = await runBench(['many-remotes', ...size], { signal });
  expect(stdout).toMatch(/^\| +\| 3 remotes \| 2 remotes \|/m);
  for (const subject of ['mirror', 'global Service', 'import', 'companion']) {
    expect(stdout).toMatch(
      new RegExp(`^\\| ${subject}: CPU of a change +\\| +\\d+\\.\\d ms \\| +\\d+\\.\\d ms \\|`, 'm'),
    );
    expect(stdout).toMatch(new RegExp(`^\\| ${subject}: .*, p99 +\\| +\\d+\\.\\d ms \\| +\\d+\\.\\d ms \\|`, 'm'));
  }
  expect(stdout).not.toContain('failed');
});

it('fails if changes overtake each other', async ({ signal }) => {
  const size = '--remotes 3 --services 1 --changes 40 --rate 100000 --settle 0 --repeat 1'.split(' ');
  await expect(runBench(['many-remotes', ...size], { signal })).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/failed in round 1: the last change of mirror 000 was overtaken/) as string,
  });
});
