import { expect, it } from 'vitest';
import { tellBench } from '../support/bench.ts';

it('measures the agent, and its calls of wg', async ({ signal }) => {
  const extent = '--nodes 30 --changes 3 --scrapes 1 --settle 0 --idle 1 --repeat 1'.split(' ');
  const { stdout, markdown, columns } = await tellBench(['wireguard', ...extent], { signal });
  expect(stdout).toMatch(/^30 remote nodes of \d+\.\d kB of JSON each, read as protobuf; no peer answers\n/);
  expect(markdown).toMatch(/^\| one change: peers in a call +\| +1 \| no peer \|/m);
  const round = {
    // Its announcement, the watches of its own Node and of theirs, and the signing keys of both clusters.
    setUp: expect.objectContaining({
      setCalls: 2,
      requests: { remote: { get: 1, watch: 1 }, local: { get: 1, patch: 1, watch: 1 } },
    }),
    scrapes: expect.objectContaining({ count: 1 }),
    peerChanges: expect.objectContaining({ changes: 3, setCallsPerChange: 1, peersPerCall: 1 }),
    idle: { cpuPercent: expect.any(Number), residentMb: expect.any(Number) },
    comeBack: { seconds: expect.any(Number), setCalls: 0 },
    peakMb: expect.any(Number),
  };
  expect(columns).toEqual([{ name: 'ours', rounds: [round] }]);
});
