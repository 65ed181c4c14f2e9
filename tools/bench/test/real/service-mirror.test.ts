// Real: a bench starts real servers unless it is told otherwise.
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { mirrorTargets } from '../../src/service-mirror/service-mirror.ts';
import { tellBench } from '../support/bench.ts';

const extent = '--services 20 --endpoints 101 --changes 5 --rollout 10 --settle 0 --idle 1 --repeat 2'.split(' ');
const peer = fileURLToPath(new URL('../support/endpoints-peer.ts', import.meta.url));

it('measures the program in turn with a peer that reads and writes Endpoints', async ({ signal }) => {
  const command = `${process.execPath} ${peer} {local} {remote} {cluster} {namespace} '{selector}'`;
  const { stdout, stderr, columns } = await tellBench(['service-mirror', ...extent, '--peer', command], { signal });
  const turns = stderr.split('\n').filter((line) => line.endsWith(': cold sync'));
  expect(turns).toEqual(
    ['1 of 2, ours', '1 of 2, node', '2 of 2, node', '2 of 2, ours'].map((turn) => `- round ${turn}: cold sync`),
  );
  expect(stdout).toMatch(/^- 20 services of 101 endpoints in 2 slices each, \d+\.\d kB a service in protobuf\n/);
  expect(stdout).toContain('\n- ours reads endpointslices, the others endpoints\n');
  // A target, the second to last column, is only for a real API server.
  expect(stdout).toMatch(/^\| restart: other writes +\| +0 \| +0 \| +1\.00 \| +(0 \|)? +met \|$/m);
  const changes = { '20 changes/s: writes': [5], 'burst: writes': [5] };
  const ours = {
    figures: expect.objectContaining({
      // A Service with two slices, and one dry run for the namespace.
      'requests to the remote cluster': [{ get: 1, watch: 2 }],
      'requests to the local cluster': [{ create: 61, get: 1, list: 1, watch: 3 }],
      'restart: other writes': [0],
      'restart: requests to the local cluster': [{ get: 1, list: 1, update: 1, watch: 3 }],
      ...changes,
      '20 changes/s: requests per written slice': [1],
      'idle: memory': [expect.any(Number), 'MB'],
      'peak memory of all phases': [expect.any(Number), 'MB'],
    }),
  };
  const theirs = {
    figures: expect.objectContaining({
      // A Service and its Endpoints.
      'requests to the local cluster': [expect.objectContaining({ create: 40 })],
      'restart: other writes': [0],
      ...changes,
    }),
  };
  expect(columns).toEqual([
    { name: 'ours', rounds: [ours, ours] },
    { name: 'node', rounds: [theirs, theirs] },
  ]);
  const targets = mirrorTargets({ services: 20, endpoints: 101, rollout: 10 }, 1);
  expect(Object.keys(columns[0]!.rounds[0]!.figures)).toEqual(expect.arrayContaining(Object.keys(targets)));
});
