// Real: a bench starts real servers unless it is told otherwise.
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
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
  expect(stdout).toMatch(/^20 services of 101 endpoints in 2 slices each, \d+\.\d kB a service in protobuf\n/);
  expect(stdout).toContain('\nours reads endpointslices, the others endpoints\n');
  // A target, the second to last column, is only for a real API server.
  expect(stdout).toMatch(/^restart: other writes +0 +0 +1\.00(?: +0)? +met$/m);
  const ours = {
    // A Service with two slices, and one dry run for the namespace.
    coldSync: expect.objectContaining({
      requests: { remote: { get: 1, watch: 2 }, local: { create: 61, get: 1, list: 1, watch: 3 } },
    }),
    restart: expect.objectContaining({ otherWrites: 0, requests: { get: 1, list: 1, update: 1, watch: 3 } }),
    steady: expect.objectContaining({ changes: 5, writes: 5, requests: { update: 5 } }),
    burst: expect.objectContaining({ changes: 5, writes: 5 }),
    rollout: expect.objectContaining({ pods: 10 }),
    idle: { cpuPercent: expect.any(Number), residentMb: expect.any(Number) },
    peakMb: expect.any(Number),
  };
  const theirs = expect.objectContaining({
    // A Service and its Endpoints.
    coldSync: expect.objectContaining({
      requests: expect.objectContaining({ local: expect.objectContaining({ create: 40 }) }),
    }),
    restart: expect.objectContaining({ otherWrites: 0 }),
    steady: expect.objectContaining({ changes: 5, writes: 5 }),
    rollout: expect.objectContaining({ pods: 10 }),
  });
  expect(columns).toEqual([
    { name: 'ours', rounds: [ours, ours] },
    { name: 'node', rounds: [theirs, theirs] },
  ]);
  expect(stdout).not.toContain('failed');
});
