import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { eventually, scaled } from '@kube-semaphore/eventually';
import { docBlocks, goesWithoutKubectl, kubectlFolder } from '@kube-semaphore/testkit';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { DemoProcess, END_MS } from './demo-process.ts';

const demos: DemoProcess[] = [];
afterEach(() => Promise.all(demos.splice(0).map((demo) => demo.dispose())));

/** As on a machine without `wg`, where no tunnel can be had. */
async function start(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<DemoProcess> {
  const demo = await DemoProcess.start(args, { PATH: '/nonexistent', ...env });
  demos.push(demo);
  return demo;
}

/** A whole demo takes half a minute where nothing else runs. */
const TIMEOUT_MS = scaled(120_000);

/** Supervisors of real clusters clean up when the demo is gone already, if it was in a hurry. */
const leavesNothing = (demo: DemoProcess): Promise<void> => eventually(() => demo.leftovers(), []);

/** Without line breaks, durations and numbers of writes: these differ from run to run. */
const withoutMeasures = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/[\d.]+ m?s\b/g, '… s')
    .replace(/\d+ writes?\b/g, '… writes');

it('runs to its end, in plain text, and cleans up', { timeout: TIMEOUT_MS }, async () => {
  const demo = await start();
  expect(await demo.ended).toMatchObject({ code: 0, signal: null });
  expect(await demo.leftovers()).toEqual([]);
  expect(demo.output).not.toContain('\u001B');

  const results = demo.output.split('\n').filter((line) => line.includes('✓'));
  expect(results.map((line) => line.replace(/^ +✓ +[\d.]+ m?s {2}/, ''))).toEqual([
    'both clusters serve their APIs',
    expect.stringMatching(/^both semaphore-policy processes are ready: /),
    expect.stringMatching(/^c1 has a set c2-shop-checkout, with [246] addresses$/),
    'all 3 pods are in it',
    expect.stringMatching(/^all 20 pods are in the set: 40 addresses, in \d+ writes? /),
    expect.stringMatching(/^all 20 new pods are in the set, and none of the old ones: never fewer than \d+/),
    'only the last pod is in the set: 10.2.0.21/32 and fd00:10:2::15/128',
    'c2 has a set c1-payments-ledger',
    expect.stringMatching(/^the set is restored: 203\.0\.113\.66\/32 was in it for /),
    'c1 reports that it does not reach c2',
    'the set did not change, while 2 attempts to reach c2 failed',
    'the set is up to date: it has the 3 new pods, and not the old one',
    expect.stringMatching(/^the other replica leads: it is the (first|second) one\. /),
    'the pod that started in between is in the set',
    'the new leader has written the next change',
    'c1 has no set c2-shop-checkout; c2 still has c1-payments-ledger',
    'a companion of the NetworkPolicy has the addresses of all 3 pods',
    'the companion is deleted, too',
    'semaphore-service-mirror is ready',
    'c1 has a Service c2-shop-73736d-checkout',
    'all 3 pods of c2 are ready behind it',
    expect.stringMatching(/^only the 3 new pods are ready behind the mirror: never fewer than \d+, /),
    'c1 has neither the mirror nor its EndpointSlices',
    'semaphore-service-mirror is ready again',
    'c1 has a Service gl-default-73736d-shop',
    'the pods of both clusters are ready behind it',
    'only the pods of c1 are ready behind it',
    expect.stringMatching(/^the pods of both clusters are ready behind it again: never fewer than 2 pods, /),
    'c1 has no EndpointSlices of c2: the Service stays, with 2 pods of c1',
    'c1 has neither the global Service nor its EndpointSlices',
  ]);
  const extract = docBlocks('../README.md', 'Try it', 'text').join('').trim();
  expect(withoutMeasures(demo.output)).toContain(withoutMeasures(extract));
  expect(demo.output.replace(/\s+/g, ' ')).toMatch(
    /For this, the following is missing here: (root; )?wg; ip; unshare; nsenter; mount; bash; ping; tcpdump/,
  );
  const metric = 'semaphore_policy_remote_up{remote="c2"}';
  expect(demo.output.split('\n').filter((line) => line.includes(metric))).toEqual([
    `     ${metric} 0`,
    `     ${metric} 1`,
  ]);
});

it('shows what an agent would do if no tunnel is possible', { timeout: TIMEOUT_MS }, async () => {
  const path = await mkdtemp(join(tmpdir(), 'demo-path-'));
  onTestFinished(() => rm(path, { recursive: true }));
  // A machine without any device.
  await writeFile(
    join(path, 'wg'),
    '#!/bin/sh\n[ "$2" = all ] || { echo "Unable to access interface: No such device" >&2; exit 1; }\n',
    { mode: 0o755 },
  );
  await writeFile(join(path, 'ip'), '#!/bin/sh\necho "[]"\n', { mode: 0o755 });
  const demo = await start([], { PATH: path });
  expect(await demo.ended).toMatchObject({ code: 0, signal: null });
  expect(demo.output).toMatch(/✓ .* the agent would do this here\n/);
  expect(demo.output).toMatch(/create {2}device {6}wireguard\.c2 {2}port 51820, /);
  expect(demo.output).toMatch(
    /create {2}peer {8}\S{44} {2}n2 {2}192\.0\.2\.2:51820 {2}10\.2\.1\.0\/24 {2}fd00:10:2:0:1::\/80\n/,
  );
  expect(await demo.leftovers()).toEqual([]);
});

it.each([
  { name: 'before it starts anything', signal: 'SIGINT', text: 'kube-semaphore connects' },
  { name: 'while the apps start', signal: 'SIGINT', text: 'both clusters serve' },
  { name: 'by SIGTERM while pods start', signal: 'SIGTERM', text: '3. It grows' },
  { name: 'by SIGHUP while a cluster is not reached', signal: 'SIGHUP', text: '8. The other cluster' },
  { name: 'while no replica leads', signal: 'SIGINT', text: 'kill -9' },
  { name: 'while an app restarts', signal: 'SIGINT', text: '15. One Service' },
  { name: 'while a cluster of a global Service is down', signal: 'SIGINT', text: 'only the pods of c1 are ready' },
] as const)(
  'ends soon and leaves nothing when it is interrupted $name',
  { timeout: TIMEOUT_MS },
  async ({ signal, text }) => {
    // With --keep, it runs until it is interrupted.
    const demo = await start(['--keep']);
    await demo.says(text);
    demo.signal(signal);
    // npm forwards a Ctrl-C like this.
    demo.child.kill(signal);
    const startMs = performance.now();
    expect(await demo.ended).toMatchObject({ code: 0, signal: null, output: expect.stringMatching(/\nStopping\.\n$/) });
    expect(performance.now() - startMs).toBeLessThan(scaled(END_MS));
    await leavesNothing(demo);
  },
);

it('ends when its output is closed', async () => {
  const demo = await start();
  await demo.says('kube-semaphore connects');
  demo.child.stdout?.destroy();
  expect(await demo.ended).toMatchObject({ code: 0 });
  await leavesNothing(demo);
});

it('fails with the end of the logs when an app dies', async () => {
  const demo = await start();
  await demo.says('2. A workload starts');
  const app = (await demo.processes()).find((line) => line.includes('-target-cluster-name c2'));
  process.kill(Number.parseInt(app ?? '', 10), 'SIGKILL');
  expect(await demo.ended).toMatchObject({ code: 1 });
  expect(demo.output).toContain('The demo failed: semaphore-policy of c1 exited unexpectedly: SIGKILL');
  expect(demo.output).toMatch(/The last lines of semaphore-policy of c1:\n\{"level":"info",.*"msg":"started"\}/);
  await leavesNothing(demo);
});

const env = { ...process.env, PATH: [kubectlFolder, process.env['PATH']].join(delimiter) };

it.skipIf(goesWithoutKubectl)(
  'continues with --keep, and the commands that it prints work',
  { timeout: TIMEOUT_MS },
  async () => {
    const demo = await start(['--keep']);
    await demo.says('Your turn');
    // The metrics of the three apps come last.
    await eventually(() => demo.output.split('/metrics\n').length - 1, 3);
    const invitation = demo.output.slice(demo.output.indexOf('Your turn')).split('\n');
    const shown = invitation.filter((line) => line.startsWith('     '));
    const { stdout } = await promisify(execFile)('sh', ['-ec', shown.join('\n')], { env });
    expect(stdout).toContain('name: c2-shop-checkout');
    expect(stdout).toContain('semaphore_policy_remote_up{remote="c1"} 1');
    // It is shown, deleted, and created again.
    expect(stdout).toContain('name: c2-shop-73736d-checkout');
    expect(stdout).toContain('semaphore_service_mirror_remote_up{remote="c2"} 1');
    expect(stdout).toContain('name: gl-default-73736d-shop');

    demo.signal('SIGINT');
    expect(await demo.ended).toMatchObject({ code: 0, signal: null });
    await leavesNothing(demo);
  },
);

it.each([
  { name: 'helps', args: ['--help'], env: {}, code: 0, output: /^Usage: npm run demo/ },
  { name: 'refuses unknown flags', args: ['--kep'], env: {}, code: 2, output: /^Unknown option '--kep'\n\nUsage:/ },
  {
    name: 'says in one line that real API servers are missing',
    args: ['--real'],
    env: { KUBEBUILDER_ASSETS: '', XDG_CACHE_HOME: '/nonexistent' },
    code: 1,
    output: /^--real: .*"npm run binaries".*\n$/,
  },
])('$name', async ({ args, env, code, output }) => {
  const demo = await start(args, env);
  expect(await demo.ended).toEqual({ code, signal: null, output: expect.stringMatching(output) });
});
