import { execFile } from 'node:child_process';
import { readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { eventually } from '@kube-semaphore/eventually';
import { expect, it } from 'vitest';
import { DemoProcess } from '../demo-process.ts';

const run = promisify(execFile);

/** Runs the whole demo before the tunnels. */
const start = (): Promise<DemoProcess> => DemoProcess.start(['--keep'], { PATH: process.env['PATH'] ?? '' });

type Process = { readonly parent: number; readonly namespace: string };

/** All processes with their network namespaces. */
async function processes(): Promise<readonly Process[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'ppid=,netns=']);
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      const [parent = '', namespace = ''] = line.trim().split(/ +/);
      return { parent: Number(parent), namespace };
    });
}

/** The network namespaces of a demo. */
async function namespacesOf({ child }: DemoProcess): Promise<ReadonlySet<string>> {
  const own = /\d+/.exec(await readlink('/proc/self/ns/net'))?.[0];
  const held = (await processes()).filter(
    ({ parent, namespace }) => parent === child.pid && namespace !== own && namespace !== '-',
  );
  return new Set(held.map(({ namespace }) => namespace));
}

/** Waits until a demo has left no file, no process, and no process in its namespaces. */
async function expectNothingLeft(demo: DemoProcess, namespaces: ReadonlySet<string>): Promise<void> {
  const inside = async () => (await processes()).filter(({ namespace }) => namespaces.has(namespace));
  await eventually(async () => [...(await demo.leftovers()), ...(await inside())], []);
}

it('carries packets between the clusters, and with --keep continues to do so', async () => {
  const demo = await start();
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
  await expectNothingLeft(demo, namespaces);
});

/** Interrupts a demo that has printed `text`. */
async function interrupt(text: string): Promise<void> {
  const demo = await start();
  await demo.says(text);
  const namespaces = await namespacesOf(demo);
  expect(namespaces.size).toBe(5);
  demo.signal('SIGINT');
  expect(await demo.ended).toMatchObject({
    code: 0,
    signal: null,
    output: expect.stringMatching(/\nStopping\.\n$/) as unknown,
  });
  await expectNothingLeft(demo, namespaces);
}

const moments = ['describes c2 for the agent', 'It starts again'];

// At the same time, because each runs the whole demo before the tunnels, and no packets are counted.
it('ends soon and leaves nothing when it is interrupted while the agents start, or after an agent was killed', async () => {
  await Promise.all(moments.map(interrupt));
});
