import { expect, it } from 'vitest';
import { runBench, tellBench } from './support/bench.ts';

it('measures the program, with the same result as table, Markdown and JSON', async ({ signal }) => {
  const extent = '--pods 100 --sets 10 --changes 10 --rollout 20 --settle 0 --idle 1 --repeat 1'.split(' ');
  const { stdout, markdown, columns } = await tellBench(['policy', ...extent], { signal });
  expect(stdout).toMatch(/^100 pods in 10 sets, 1\d\.\d kB each in protobuf\n/);
  expect(stdout).toMatch(/^20 changes\/s: writes +10 +no peer$/m);
  expect(markdown).toMatch(/^\| 20 changes\/s: writes +\| +10 \| no peer \|/m);
  expect(columns).toEqual([
    {
      name: 'ours',
      rounds: [
        expect.objectContaining({
          coldSync: expect.objectContaining({
            requests: { remote: { get: 1, watch: 1 }, local: { create: 10, get: 2, list: 3, watch: 1 } },
          }),
          steady: expect.objectContaining({ changes: 10, writes: 10, requests: { update: 10 } }),
          rollout: expect.objectContaining({ pods: 20 }),
          idle: { cpuPercent: expect.any(Number), residentMb: expect.any(Number) },
        }),
      ],
    },
  ]);
});

it('measures companions of NetworkPolicies beside bare writes', async ({ signal }) => {
  const extent =
    '--network-policies --pods 100 --sets 10 --label-sets 20 --changes 10 --rollout 20 --settle 0 --repeat 1'.split(
      ' ',
    );
  const { stdout, columns } = await tellBench(['policy', ...extent], { signal });
  expect(stdout).toMatch(/^100 pods with 20 label sets, 10 NetworkPolicies, 1\d\.\d kB a pod in protobuf\n/);
  expect(stdout).toMatch(/^bare writes of companions: all created in \d/m);
  expect(columns).toEqual([
    {
      name: 'ours',
      rounds: [
        expect.objectContaining({
          steady: expect.objectContaining({ changes: 10, writes: 10, requests: { update: 10 } }),
          rollout: expect.objectContaining({ pods: 20 }),
          reevaluation: {
            seconds: expect.any(Number),
            answers: { longestMs: expect.any(Number), longestRunningMs: expect.any(Number) },
          },
        }),
      ],
    },
  ]);
});

it('reports invalid arguments', async ({ signal }) => {
  await expect(runBench(['policy', '--pods', 'many'], { signal })).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^--pods must be a whole number of at least 2\n\nnpm run bench -- policy/),
  });
});
