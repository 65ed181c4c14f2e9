import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@kube-semaphore/eventually';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { describe, expect, it } from 'vitest';
import { Runner } from './runner.ts';

const untilAborted = async ({ signal }: RunOptions): Promise<void> =>
  delay(60_000, undefined, { signal, ref: false }).catch(() => undefined);

/** A runner that notes what begins and ends, with a local side that is listed when `listed` resolves. */
function runnerWith({
  listed = Promise.resolve(),
  isSynced = true,
  firstSync = Promise.resolve(),
  prepared = Promise.resolve(),
  isForbidden = false,
}: {
  listed?: Promise<void>;
  isSynced?: boolean;
  firstSync?: Promise<void>;
  prepared?: Promise<void>;
  isForbidden?: boolean;
} = {}) {
  const notes: string[] = [];
  const noted = (what: string, run: typeof untilAborted) => async (options: RunOptions) => {
    notes.push(`${what} begins`);
    await run(options).finally(() => notes.push(`${what} ends`));
  };
  const runner = new Runner({
    local: {
      what: 'the local sets',
      run: noted('local', untilAborted),
      listed,
      isSynced: () => isSynced,
      loops: () => [],
      failure: () => new Error('refused'),
      connection: () => ({ up: true, since: '', lastSync: null, lastError: null }),
    },
    prepare: () => {
      notes.push('preparation begins');
      return prepared;
    },
    watch: (options) => Promise.resolve([noted('c2', untilAborted)(options)]),
    remotes: () => [{ cluster: 'c2', synced: false, isForbidden, firstSync, silentMs: 1 }],
    watched: 'pods',
    longestReconcileMs: () => 0,
    idleTimeoutMs: 1_000,
  });
  return { runner, notes };
}

const { signal } = new AbortController();
const never = new Promise<void>(() => undefined);

describe('once', () => {
  it('lists the local side first, then the remotes, and ends all of them', async () => {
    const { runner, notes } = runnerWith();
    expect(await runner.once({ signal, timeoutMs: 60_000 }, () => notes.push('observe') && 'seen')).toBe('seen');
    expect(notes).toEqual(['local begins', 'preparation begins', 'c2 begins', 'observe', 'local ends', 'c2 ends']);
  });

  it('continues without a remote that is not listed in time', async () => {
    const { runner } = runnerWith({ firstSync: never });
    expect(await runner.once({ signal, timeoutMs: 20 }, () => 'seen')).toBe('seen');
  });

  it('fails with the cause if the local side is not listed in time, and ends it', async () => {
    const { runner, notes } = runnerWith({ listed: never });
    await expect(runner.once({ signal, timeoutMs: 20 }, () => 'seen')).rejects.toMatchObject({
      message: "the local sets couldn't be read within 20 ms",
      cause: new Error('refused'),
    });
    expect(notes).toEqual(['local begins', 'preparation begins', 'local ends']);
  });

  it('continues without the local side if that is allowed', async () => {
    const { runner } = runnerWith({ listed: never });
    expect(await runner.once({ signal, timeoutMs: 20, needsLocal: false }, () => 'seen')).toBe('seen');
  });
});

describe('run', () => {
  it('ends with its signal', async () => {
    const { runner, notes } = runnerWith();
    const stop = new AbortController();
    const running = runner.run({ signal: stop.signal }, (options) => [untilAborted(options)]);
    await eventually(() => notes, ['local begins', 'preparation begins', 'c2 begins']);
    expect(runner.isWatching).toBe(true);
    stop.abort();
    await running;
    expect(notes.toSorted()).toEqual(['c2 begins', 'c2 ends', 'local begins', 'local ends', 'preparation begins']);
  });

  it('prepares beside the list of the local side, and watches remotes after both', async () => {
    const [listed, prepared] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { runner, notes } = runnerWith({ listed: listed.promise, prepared: prepared.promise });
    const stop = new AbortController();
    const running = runner.run({ signal: stop.signal }, () => []);
    expect(notes).toEqual(['local begins', 'preparation begins']);
    listed.resolve();
    await delay(1);
    expect(runner.isWatching).toBe(false);
    prepared.resolve();
    await eventually(() => runner.isWatching, true);
    stop.abort();
    await running;
  });

  it('ends with the first loop that fails, and ends the others', async () => {
    const { runner, notes } = runnerWith();
    const failing = [Promise.reject(new Error('broken'))];
    await expect(runner.run({ signal }, () => failing)).rejects.toThrow('broken');
    expect(notes).toContain('c2 ends');
  });

  it('is not ready before the local side is listed, and each remote is synced or late', async () => {
    const { runner } = runnerWith();
    expect(runner.isReady()).toEqual({ ok: false, reason: 'the local cluster is not listed yet' });
    const stop = new AbortController();
    const running = runner.run({ signal: stop.signal }, () => []);
    await eventually(() => runner.isReady(), { ok: false, reason: 'waiting for the first list of c2' });
    stop.abort();
    await running;
  });

  it('is ready without a remote that it may not watch', async () => {
    const { runner } = runnerWith({ isForbidden: true });
    const stop = new AbortController();
    const running = runner.run({ signal: stop.signal }, () => []);
    await eventually(() => runner.isWatching, true);
    // At once: a remote that is late delays it for half a minute.
    expect(runner.isReady()).toEqual({ ok: true });
    stop.abort();
    await running;
  });
});
