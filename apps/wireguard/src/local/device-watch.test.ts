import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@kube-semaphore/eventually';
import { describe, expect, it } from 'vitest';
import { DeviceWatch } from './device-watch.ts';
import { silentLog } from '../../test/support/builders.ts';

const remotes = new Map([
  ['wireguard.c2', 'c2'],
  ['wg-three', 'c3'],
]);

/** A watch whose links change when a test says so, and the remotes that it woke. */
function startWatch({ retryMs = 1 }: { readonly retryMs?: number } = {}) {
  const woken: string[] = [];
  const awaited = new Set<string>();
  const ends: ((error?: Error) => void)[] = [];
  const stopping = new AbortController();
  let change: (name: string) => void = () => undefined;
  const watch = new DeviceWatch({
    remotes,
    awaited: () => awaited,
    log: silentLog,
    retryMs,
    awaitedPeriodMs: 1,
    onChange: (remote) => woken.push(remote),
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
  return { awaited, woken, ends, change: (name: string) => change(name), stop };
}

describe('a watch of devices', () => {
  it('wakes the remote whose device changed, and passes over all other links', async () => {
    const { woken, change, stop } = startWatch();
    for (const name of ['eth0', 'wireguard.c2', 'wireguard.c3', 'wg-three']) change(name);
    expect(woken).toEqual(['c2', 'c3']);
    await stop();
  });

  it.each([
    { name: 'ends', error: undefined },
    { name: 'fails', error: new Error('no such program') },
  ])('goes on when it $name', async ({ error }) => {
    const { woken, ends, change, stop } = startWatch();
    ends[0]?.(error);
    await eventually(() => ends.length, 2);
    change('wireguard.c2');
    expect(woken).toEqual(['c2']);
    await stop();
  });

  it('waits before it goes on, and no longer than it is asked to run', async () => {
    const { ends, stop } = startWatch({ retryMs: 1_000_000 });
    ends[0]?.();
    await delay(0);
    await stop();
    expect(ends).toHaveLength(1);
  });

  it('looks for a device that is awaited, until it isn’t', async () => {
    const { awaited, woken, stop } = startWatch();
    awaited.add('c2');
    await eventually(() => woken.length >= 2, true);
    awaited.delete('c2');
    awaited.add('c3');
    const before = woken.length;
    await eventually(() => woken.length >= before + 2, true);
    expect([new Set(woken.slice(0, before)), new Set(woken.slice(before))]).toEqual([new Set(['c2']), new Set(['c3'])]);
    await stop();
  });
});
