import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { expect, it } from 'vitest';
import type { Component } from '../src/real/protocol.ts';
import { Supervision } from '../src/real/supervision.ts';
import { remainsOf } from './remains.ts';
import { sleeper } from './sleeper.ts';

const owner = fileURLToPath(new URL('./supervision-owner.ts', import.meta.url));

/** The pid of the supervisor, from the sleeper's log. */
const parentOf = ({ log }: Component) =>
  eventually(() => {
    const text = existsSync(log) ? readFileSync(log, 'utf8') : '';
    return text.endsWith('\n') ? Number(text) : undefined;
  }, isDefined);

it('kills one component and reports its end', async () => {
  const supervision = await Supervision.start();
  const [one, other] = ['one', 'other'].map((name) => supervision.spawn(sleeper(supervision.dir, name)));
  await one?.kill();
  expect(await one?.exited).toBe('SIGKILL');
  await supervision.stop();
  expect(await other?.exited).toBe('the supervisor is gone');
});

it('reports the exit code of a component that ends by itself', async () => {
  const supervision = await Supervision.start();
  const log = join(supervision.dir, 'log');
  const { exited } = supervision.spawn({ name: 'x', file: process.execPath, args: ['-e', 'process.exit(3)'], log });
  expect(await exited).toBe('exit code 3');
  await supervision.stop();
});

it('reports why a program could not be started', async () => {
  const supervision = await Supervision.start();
  const { exited } = supervision.spawn({
    name: 'x',
    file: '/nonexistent',
    args: [],
    log: join(supervision.dir, 'log'),
  });
  expect(await exited).toContain('ENOENT');
  await supervision.stop();
});

it('leaves nothing after stop, even if stopped twice', async () => {
  const supervision = await Supervision.start();
  supervision.spawn(sleeper(supervision.dir));
  await Promise.all([supervision.stop(), supervision.stop()]);
  await supervision.stop();
  expect(await remainsOf(supervision.dir)).toEqual([]);
});

it('leaves nothing when the supervisor itself is killed', async () => {
  const supervision = await Supervision.start();
  const component = sleeper(supervision.dir);
  const { exited } = supervision.spawn(component);
  process.kill(await parentOf(component), 'SIGKILL');
  expect(await exited).toBe('the supervisor is gone');
  await eventually(() => remainsOf(supervision.dir), []);
});

it('cleans up when the supervisor gets SIGTERM', async () => {
  const supervision = await Supervision.start();
  const component = sleeper(supervision.dir);
  supervision.spawn(component);
  process.kill(await parentOf(component), 'SIGTERM');
  await eventually(() => remainsOf(supervision.dir), []);
  await supervision.stop();
});

it.each([
  { name: 'is killed', signal: 'SIGKILL', group: false },
  { name: 'is killed together with its process group', signal: 'SIGKILL', group: true },
  { name: 'gets a Ctrl-C together with its process group', signal: 'SIGINT', group: true },
] as const)('leaves nothing when the owning process $name', async ({ signal, group }) => {
  const child = fork(owner, { execPath: process.execPath, execArgv: [], detached: group });
  const [dir] = (await once(child, 'message')) as [string];
  await parentOf(sleeper(dir));
  process.kill(group ? -Number(child.pid) : Number(child.pid), signal);
  await once(child, 'exit');
  await eventually(() => remainsOf(dir), []);
});
