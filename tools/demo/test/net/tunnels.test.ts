import { eventually } from '@kube-semaphore/eventually';
import { expect, it } from 'vitest';
import { leavesNothing, namespacesOf, run, startWithTunnels } from '../namespaces.ts';

it('carries packets between the clusters, and with --keep continues to do so', async () => {
  const demo = await startWithTunnels();
  await demo.says('Your turn');
  // The metrics of the three apps and the two agents come last.
  await eventually(() => demo.output.split('/metrics\n').length - 1, 5);
  const results = demo.output.split('\n').filter((line) => line.includes('✓'));
  expect(results.slice(-7).map((line) => line.replace(/^ +✓ +[\d.]+ m?s {2}/, ''))).toEqual([
    expect.stringMatching(/^both semaphore-wireguard agents are ready: /),
    expect.stringMatching(/^each node is a peer of the other, /),
    '10.2.1.10 answers',
    'fd00:10:2:0:1::10 answers',
    expect.stringMatching(/^the pings were encrypted, and no ping was lost\./),
    expect.stringMatching(/^the agent is ready again: of \d+ pings in that time, none was lost$/),
    'n1 has no peer',
  ]);
  expect(demo.output).toMatch(/up {7}n2 {2}172\.31\.0\.\d:51820 {2}handshake \d+ s ago {2}/);

  const commands = demo.output.split('\n').filter((line) => line.startsWith('     nsenter '));
  const { stdout } = await run('sh', ['-ec', commands.join('\n')]);
  expect(stdout).toContain('3 received, 0% packet loss');
  expect(stdout).toContain('interface: wireguard.c2\n');
  expect(stdout).toMatch(/allowed ips: 10\.2\.1\.0\/24, fd00:10:2:0:1::\/80\n/);
  expect(stdout).toContain('semaphore_wg_remote_up{remote="c1"} 1\n');

  const namespaces = await namespacesOf(demo);
  // The Ethernet, two nodes and two pods.
  expect(namespaces.size).toBe(5);
  demo.signal('SIGINT');
  expect(await demo.ended).toMatchObject({ code: 0, signal: null });
  await leavesNothing(demo, namespaces);
});
