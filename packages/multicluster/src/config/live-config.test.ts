import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@kube-semaphore/eventually';
import { ConfigError } from '@kube-semaphore/runtime';
import { mountFiles } from '@kube-semaphore/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { changedFields, LiveConfig } from './live-config.ts';

/**
 * A config file of a ConfigMap as kubelet mounts it, and what is said of it. `bad` in it is a problem; `fixed` needs a restart, and
 * so does `only`, which changes no remote.
 */
async function mounted(content: string) {
  const folder = await mkdtemp(join(tmpdir(), 'live-'));
  const path = join(folder, 'config.yaml');
  const place = (text: string) => mountFiles(folder, { 'config.yaml': text });
  await place(content);
  const lines: string[] = [];
  const say = (_: object, message: string): void => void lines.push(message);
  const applied: string[] = [];
  const live = new LiveConfig({
    file: { path, content },
    apply: (file) => {
      if (file.content.includes('bad')) throw new ConfigError(`${file.path}: it is bad`);
      applied.push(file.content);
      const needRestart = /fixed|only/.test(file.content) ? ['local.name'] : [];
      const added = file.content.includes('only') ? [] : ['c3'];
      return Promise.resolve({ changes: { added, removed: [], changed: [] }, needRestart, warnings: [] });
    },
    log: { trace: say, debug: say, info: say, warn: say, error: say },
    intervalMs: 1,
  });
  const stop = new AbortController();
  const running = live.run({ signal: stop.signal });
  onTestFinished(async () => {
    stop.abort();
    await running;
    await rm(folder, { recursive: true });
  });
  return { live, place, applied, lines, path };
}

describe('a config file', () => {
  it('takes effect when kubelet swaps the link to it', async () => {
    const { live, place, applied, lines } = await mounted('a');
    await place('b');
    await eventually(() => applied, ['b']);
    expect(live.isStale).toBe(false);
    expect(lines).toEqual(['config file changed, and is in force']);
  });

  it('stays in force while the present one is invalid, which is told once', async () => {
    const { live, place, applied, lines, path } = await mounted('a');
    await place('bad');
    await eventually(() => live.status().problems, [`${path}: it is bad`]);
    expect(live.isStale).toBe(true);
    await place('b');
    await eventually(() => live.isStale, false);
    expect(applied).toEqual(['b']);
    expect(lines).toEqual([
      'config file changed and is invalid; the last valid one stays in force',
      'config file changed, and is in force',
    ]);
  });

  it('is as before once an invalid change is taken back', async () => {
    const { live, place, applied, lines } = await mounted('a');
    await place('bad');
    await eventually(() => live.isStale, true);
    await place('a');
    await eventually(() => live.isStale, false);
    expect(applied).toEqual([]);
    expect(lines.at(-1)).toBe('config file is as before');
  });

  it('that is gone for a moment is no change, also after an invalid one', async () => {
    const { live, place, lines, path } = await mounted('a');
    await place('bad');
    await eventually(() => live.isStale, true);
    await rm(path);
    await delay(20); // it may be read some times more
    expect([live.isStale, lines]).toEqual([
      true,
      ['config file changed and is invalid; the last valid one stays in force'],
    ]);
  });

  it('is not said to be in force if all of it waits for a restart', async () => {
    const { live, place, lines } = await mounted('a');
    await place('only');
    await eventually(() => live.isStale, true);
    expect(lines).toEqual(['restart to apply these fields']);
  });

  it('names the fields that need a restart', async () => {
    const { live, place, lines } = await mounted('a');
    await place('fixed');
    await eventually(() => live.status().needRestart, ['local.name']);
    expect(live.isStale).toBe(true);
    expect(lines.at(-1)).toBe('restart to apply these fields');
  });
});

describe('an inventory', () => {
  it('is put in force once it answers, with the file as it was, and then when it changes', async () => {
    const applied: string[] = [];
    const lines: string[] = [];
    let remotes = ['c2'];
    let isNews = true;
    const first = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const say = (_: object, message: string): void => void lines.push(message);
    const live = new LiveConfig({
      file: { path: '/does-not-exist', content: 'a' },
      inventory: {
        run: () => Promise.resolve(),
        poll: () => Promise.resolve(isNews && !(isNews = false)),
        answered: answered.promise,
        tried: () => first.resolve(),
      },
      apply: ({ content }) => {
        if (remotes.includes('bad')) throw new ConfigError('it is bad');
        applied.push(`${content} ${remotes.join()}`);
        return Promise.resolve({
          changes: { added: remotes, removed: [], changed: [] },
          needRestart: [],
          warnings: [],
        });
      },
      log: { trace: say, debug: say, info: say, warn: say, error: say },
      intervalMs: 1,
    });
    const stop = new AbortController();
    const running = live.run({ signal: stop.signal });
    await delay(20);
    expect(applied).toEqual([]);
    answered.resolve();
    await first.promise;
    expect(applied).toEqual(['a c2']);
    [remotes, isNews] = [['bad'], true];
    await eventually(() => lines.at(-1), 'remotes of the inventory are not in force');
    [remotes, isNews] = [['c3'], true];
    await eventually(() => applied, ['a c2', 'a c3']);
    stop.abort();
    await running;
  });
});

it.each([
  { name: 'nothing', after: { local: { name: 'c1', cidrs: ['10.0.0.0/8'] }, hints: 'always' }, want: [] },
  { name: 'a value', after: { local: { name: 'c9', cidrs: ['10.0.0.0/8'] }, hints: 'always' }, want: ['local.name'] },
  { name: 'a list', after: { local: { name: 'c1', cidrs: [] }, hints: 'always' }, want: ['local.cidrs'] },
  { name: 'a section that is gone', after: { hints: 'always' }, want: ['local'] },
  {
    name: 'a new field',
    after: { local: { name: 'c1', cidrs: ['10.0.0.0/8'] }, hints: 'always', mcs: {} },
    want: ['mcs'],
  },
])('finds that $name changed', ({ after, want }) => {
  const before = { local: { name: 'c1', cidrs: ['10.0.0.0/8'] }, hints: 'always' };
  expect(changedFields(before, after)).toEqual(want);
});
