import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { expect, it, onTestFinished } from 'vitest';
import { Supervision } from '../../src/real/supervision.ts';
import { remainsOf } from '../remains.ts';

it('runs a component in control groups of its own, and kills what it started with it; they are not shared', async () => {
  const supervision = await Supervision.start();
  onTestFinished(() => supervision.stop());
  const { dir } = supervision;
  const cgroup = basename(dir);
  const folders = () => globSync(`/sys/fs/cgroup/**/${cgroup}`);
  const two = supervision.spawn({
    name: 'two',
    file: '/bin/sh',
    // One of the two is in a session of its own. Whose they are is among their arguments.
    args: ['-c', 'setsid "$@" & exec "$@"', 'sh', process.execPath, '-e', 'setInterval(() => {}, 1e6)', dir],
    log: join(dir, 'two.log'),
    cgroup,
  });
  await eventually(async () => (await remainsOf(dir)).length, 3);
  const another = supervision.spawn({ name: 'another', file: '/bin/true', args: [], log: join(dir, 'log'), cgroup });
  expect(await another.exited).toContain('EEXIST');
  expect(folders().length).toBeGreaterThan(0);
  await two.kill();
  expect(await two.exited).toBe('SIGKILL');
  expect(await remainsOf(dir)).toEqual([dir]);
  expect(folders()).toEqual([]);
});
