import { expect, it } from 'vitest';
import { companionTargets } from '../src/policy/network-policies.ts';
import { setTargets } from '../src/policy/sets.ts';
import { runBench, tellBench } from './support/bench.ts';

const size = { pods: 100, sets: 10, bareDownloadSeconds: 1 };
const extent = '--pods 100 --sets 10 --changes 10 --rollout 20 --settle 0 --idle 1 --repeat 1'.split(' ');

it('measures the program, with the same result as table and JSON', async ({ signal }) => {
  const { stdout, columns } = await tellBench(['policy', ...extent], { signal });
  expect(stdout).toMatch(/^- 100 pods in 10 sets, 1\d\.\d kB each in protobuf\n/);
  expect(stdout).toMatch(/^\| 20 changes\/s: writes +\| +10 \| no peer \|/m);
  const figures = {
    'requests to the remote cluster': [{ get: 1, watch: 1 }],
    'requests to the local cluster': [{ create: 10, get: 2, list: 3, watch: 1 }],
    '20 changes/s: writes': [10],
    '20 changes/s: requests per written set': [1],
    'rollout: writes': [expect.any(Number)],
    'idle: memory': [expect.any(Number), 'MB'],
  };
  expect(columns).toEqual([{ name: 'ours', rounds: [{ figures: expect.objectContaining(figures) }] }]);
  expect(Object.keys(columns[0]!.rounds[0]!.figures)).toEqual(expect.arrayContaining(Object.keys(setTargets(size))));
});

it('measures companions of NetworkPolicies beside bare writes', async ({ signal }) => {
  const args = ['policy', '--network-policies', '--label-sets', '20', ...extent];
  const { stdout, columns } = await tellBench(args, { signal });
  expect(stdout).toMatch(/^- 100 pods with 20 label sets, 10 NetworkPolicies, 1\d\.\d kB a pod in protobuf\n/);
  expect(stdout).toMatch(/^- bare writes of companions: all created in \d/m);
  const figures = {
    '20 changes/s: writes': [10],
    // A busy machine may have the answer to a write before its event, and so a conflict.
    '20 changes/s: requests per written companion': [expect.toSatisfy((count: number) => count >= 1 && count < 2)],
    'rollout: writes': [expect.any(Number)],
    'labels of all namespaces: longest answer of /healthz': [expect.any(Number), 'ms'],
  };
  expect(columns).toEqual([{ name: 'ours', rounds: [{ figures: expect.objectContaining(figures) }] }]);
  expect(Object.keys(columns[0]!.rounds[0]!.figures)).toEqual(
    expect.arrayContaining(Object.keys(companionTargets(size, 1))),
  );
});

it('reports invalid arguments', async ({ signal }) => {
  await expect(runBench(['policy', '--pods', 'many'], { signal })).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /'--pods <n>' .* must be a whole number from 2 to .*\n\nUsage: npm run bench -- policy/,
    ),
  });
});
