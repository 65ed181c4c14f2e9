import { eventually, isDefined } from '@kube-semaphore/eventually';
import { expect, it } from 'vitest';
import { DemoProcess, interruptAt, stopped } from './demo-process.ts';

it.each([
  { name: 'before it starts anything', signal: 'SIGINT', text: 'kube-semaphore connects' },
  { name: 'while the apps start', signal: 'SIGINT', text: 'both clusters serve' },
  { name: 'by SIGTERM while pods start', signal: 'SIGTERM', text: '3. It grows' },
  { name: 'by SIGHUP while a cluster is not reached', signal: 'SIGHUP', text: '8. The other cluster' },
] as const)('ends and leaves nothing when it is interrupted $name', async ({ signal, text }) => {
  expect(await interruptAt(text, signal)).toEqual(stopped);
});

it('ends when its output is closed', async () => {
  const demo = await DemoProcess.start();
  await demo.says('kube-semaphore connects');
  demo.child.stdout?.destroy();
  expect(await demo.ended).toMatchObject({ code: 0 });
  await demo.leavesNothing();
});

it('fails with the end of the logs when an app dies', async () => {
  const demo = await DemoProcess.start();
  await demo.says('2. A workload starts');
  // A busy machine may list a process without its arguments, for a moment.
  const found = async () => (await demo.processes()).find((line) => line.includes('-target-cluster-name c2'));
  const app = await eventually(found, isDefined);
  process.kill(Number.parseInt(app, 10), 'SIGKILL');
  expect(await demo.ended).toMatchObject({ code: 1 });
  expect(demo.output).toContain('The demo failed: semaphore-policy of c1 exited unexpectedly: SIGKILL');
  expect(demo.output).toMatch(/The last lines of semaphore-policy of c1:\n\{"level":"info",.*"msg":".+"\}/);
  await demo.leavesNothing();
});

it.each([
  { name: 'helps', args: ['--help'], env: {}, code: 0, output: /^Usage: npm run demo/ },
  { name: 'refuses unknown flags', args: ['--kep'], env: {}, code: 2, output: /^error: unknown option '--kep'\n/ },
  {
    name: 'says in one line that real API servers are missing',
    args: ['--real'],
    env: { KUBEBUILDER_ASSETS: '', XDG_CACHE_HOME: '/nonexistent' },
    code: 1,
    output: /^--real: .*"npm run binaries".*\n$/,
  },
])('$name', async ({ args, env, code, output }) => {
  const demo = await DemoProcess.start(args, env);
  expect(await demo.ended).toEqual({ code, signal: null, output: expect.stringMatching(output) });
});
