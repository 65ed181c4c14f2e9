import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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

/** An inventory with the remote `c2`, beside a config file. `bad` as a remote is a problem, but not with the file `good`. */
async function withInventory() {
  const folder = await mkdtemp(join(tmpdir(), 'live-'));
  const path = join(folder, 'config.yaml');
  const write = (content: string) => writeFile(path, content);
  await write('a');
  const lines: string[] = [];
  const say = (_: object, message: string): void => void lines.push(message);
  const applied: string[] = [];
  let remotes = ['c2'];
  let isNews = false;
  const become = (...next: readonly string[]): void => void ([remotes, isNews] = [[...next], true]);
  const [answered, tried] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const live = new LiveConfig({
    file: { path, content: 'a' },
    inventory: {
      run: () => Promise.resolve(),
      poll: () => Promise.resolve(isNews && !(isNews = false)),
      answered: answered.promise,
      tried: tried.resolve,
    },
    apply: ({ content }) => {
      if (remotes.includes('bad') && content !== 'good') throw new ConfigError('it is bad');
      applied.push(`${content} ${remotes.join()}`);
      return Promise.resolve({ changes: { added: remotes, removed: [], changed: [] }, needRestart: [], warnings: [] });
    },
    log: { trace: say, debug: say, info: say, warn: say, error: say },
    intervalMs: 1,
  });
  const stop = new AbortController();
  const running = live.run({ signal: stop.signal });
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  onTestFinished(async () => {
    await end();
    await rm(folder, { recursive: true });
  });
  return { live, write, lines, applied, become, answer: answered.resolve, tried: tried.promise, end };
}

describe('an inventory', () => {
  it('is put in force once it answers, with the file as it was, and then when it changes', async () => {
    const { lines, applied, become, answer, tried } = await withInventory();
    await delay(20);
    expect(applied).toEqual([]);
    answer();
    await tried;
    expect(applied).toEqual(['a c2']);
    become('bad');
    await eventually(() => lines.at(-1), 'remotes of the inventory are not in force');
    become('c3');
    await eventually(() => applied, ['a c2', 'a c3']);
  });

  it('that is refused as a whole is a problem, until it or a changed file is in force', async () => {
    const { live, lines, write, become, answer } = await withInventory();
    const said = () => [live.isStale, live.status().problems];
    answer();
    become('bad');
    await eventually(said, [true, ['it is bad']]);
    become('c3');
    await eventually(said, [false, []]);
    become('bad');
    await eventually(said, [true, ['it is bad']]);
    await write('b');
    await eventually(() => lines.at(-1), 'config file changed and is invalid; the last valid one stays in force');
    expect(said()).toEqual([true, ['it is bad']]);
    await write('good');
    await eventually(said, [false, []]);
  });

  it('that does not answer holds no change of the file back', async () => {
    const { write, applied, answer, tried } = await withInventory();
    await write('b');
    await eventually(() => applied, ['b c2']);
    answer();
    await tried;
    expect(applied).toEqual(['b c2', 'b c2']);
  });

  it('is tried, too, if it has not answered by the end', async () => {
    const { applied, tried, end } = await withInventory();
    await end();
    await tried;
    expect(applied).toEqual([]);
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
