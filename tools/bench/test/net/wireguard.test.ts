import { expect, it } from 'vitest';
import { wireGuardTargets } from '../../src/wireguard/wireguard.ts';
import { tellBench } from '../support/bench.ts';

it('measures the agent, and its calls of wg', async ({ signal }) => {
  const extent = '--nodes 30 --changes 3 --scrapes 1 --settle 0 --idle 1 --repeat 1'.split(' ');
  const { stdout, columns } = await tellBench(['wireguard', ...extent], { signal });
  expect(stdout).toMatch(/^- 30 remote nodes of \d+\.\d kB of JSON each, read as protobuf; no peer answers\n/);
  expect(stdout).toMatch(/^\| one change: peers in a call +\| +1 \| no peer \|/m);
  const figures = {
    // Its announcement, the watches of its own Node and of theirs, and the signing keys of both clusters.
    'start: calls of wg set': [2],
    'requests to the remote cluster': [{ get: 1, watch: 1 }],
    'requests to the local cluster': [{ get: 1, patch: 1, watch: 1 }],
    'scrapes 15 s apart': [1],
    'one change: calls of wg set': [1],
    'one change: peers in a call': [1],
    'restart: calls of wg set': [0],
    'idle: memory': [expect.any(Number), 'MB'],
  };
  expect(columns).toEqual([{ name: 'ours', rounds: [{ figures: expect.objectContaining(figures) }] }]);
  expect(Object.keys(columns[0]!.rounds[0]!.figures)).toEqual(
    expect.arrayContaining(Object.keys(wireGuardTargets({ nodes: 30 }))),
  );
});
