import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@kube-semaphore/eventually';
import { describe, expect, it } from 'vitest';
import { DeviceWatch } from './device-watch.ts';
import { remoteList, remoteSettings, silentLog } from '../../../test/support/builders.ts';

const remotes = remoteList(remoteSettings(), remoteSettings({ name: 'c3', device: 'wg-three' }));

/** A watch whose links a test changes, and the remotes that it reported. */
function startWatch({ retryMs = 1 }: { readonly retryMs?: number } = {}) {
  const reported: string[] = [];
  const awaited = new Set<string>();
  const ends: ((error?: Error) => void)[] = [];
  const stopping = new AbortController();
  let change: (name: string) => void = () => undefined;
  const watch = new DeviceWatch({
    remotes,
    polled: () => awaited,
    log: silentLog,
    retryMs,
    pollPeriodMs: 1,
    onChange: (remote) => reported.push(remote),
    watchLinks: (onChange, { signal }) => {
      change = onChange;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      ends.push((error) => (error === undefined ? resolve() : reject(error)));
      signal.addEventListener('abort', () => resolve(), { once: true });
      return promise;
    },
  });
  const running = watch.run(stopping);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await running;
  };
  return { awaited, reported, ends, change: (name: string) => change(name), stop };
}

describe('a watch of devices', () => {
  it('reports the remote whose device changed, and ignores other links', async () => {
    const { reported, change, stop } = startWatch();
    for (const name of ['eth0', 'wireguard.c2', 'wireguard.c3', 'wg-three']) change(name);
    expect(reported).toEqual(['c2', 'c3']);
    await stop();
  });

  it.each([
    { name: 'ends', error: undefined },
    { name: 'fails', error: new Error('no such program') },
  ])('begins again when it $name', async ({ error }) => {
    const { reported, ends, change, stop } = startWatch();
    ends[0]?.(error);
    await eventually(() => ends.length, 2);
    change('wireguard.c2');
    expect(reported).toEqual(['c2']);
    await stop();
  });

  it('waits before it begins again, and stops at once', async () => {
    const { ends, stop } = startWatch({ retryMs: 1_000_000 });
    ends[0]?.();
    await delay(0);
    await stop();
    expect(ends).toHaveLength(1);
  });

  it('polls for a device while it is awaited', async () => {
    const { awaited, reported, stop } = startWatch();
    awaited.add('c2');
    await eventually(() => reported.length >= 2, true);
    awaited.delete('c2');
    awaited.add('c3');
    const before = reported.length;
    await eventually(() => reported.length >= before + 2, true);
    expect([new Set(reported.slice(0, before)), new Set(reported.slice(before))]).toEqual([
      new Set(['c2']),
      new Set(['c3']),
    ]);
    await stop();
  });
});
