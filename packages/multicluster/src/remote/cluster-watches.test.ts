import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ClusterWatches } from './cluster-watches.ts';

function clusterWatches() {
  const lines: string[] = [];
  const say = (level: string) => (_: object, message: string) => void lines.push(`${level} ${message}`);
  const log = { trace: say('trace'), debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
  const up: number[] = [];
  const seen: number[] = [];
  const gauge = { set: () => {}, remove: () => {}, reset: () => {} };
  const over = new Map<string, number>();
  const metrics = {
    remoteUp: { ...gauge, set: (_: object, value: number) => void up.push(value) },
    remoteLastSync: { ...gauge, set: (_: object, value: number) => void seen.push(value) },
    remoteWatchRestarts: { inc: () => {} },
    remoteOverBudget: {
      ...gauge,
      set: ({ budget }: { budget: string }, value: number) => void over.set(budget, value),
    },
  };
  const synced: string[] = [];
  const watches = new ClusterWatches({ cluster: 'c2', metrics, log });
  void watches.firstSync.then(() => synced.push('synced'));
  return { watches, lines, up, seen, over, synced };
}

const broke = { reason: 'unreachable', verb: 'watch', error: new Error('gone'), delayMs: 500 } as const;

describe('the watches of a cluster', () => {
  it('log a failure once, and once that all of them recovered', () => {
    const { watches, lines, up } = clusterWatches();
    const [services, slices] = [watches.hooks(), watches.hooks()];
    services.onUp?.();
    slices.onUp?.();
    services.onRestart?.(broke);
    slices.onRestart?.(broke);
    services.onUp?.();
    expect(up.at(-1)).toBe(0);
    slices.onUp?.();
    expect(up).toEqual([0, 1, 0, 0, 1]);
    expect(lines).toEqual([
      'info API server reached',
      'warn watch failed',
      'debug watch failed',
      'info API server recovered',
    ]);
  });

  it('log once that the reason of an outage changed, and nothing of a cut that no failure follows', () => {
    const { watches, lines, up } = clusterWatches();
    const [services, slices] = [watches.hooks(), watches.hooks()];
    for (const hooks of [services, slices]) hooks.onUp?.();
    services.onRestart?.({ ...broke, reason: 'cut', error: undefined });
    expect([up.at(-1), lines]).toEqual([1, ['info API server reached']]);
    const reset = { ...broke, error: Object.assign(new Error('reset'), { cause: { code: 'ECONNRESET' } }) };
    const denied = { ...broke, reason: 'denied', error: Object.assign(new Error('who?'), { status: 401 }) } as const;
    for (const hooks of [services, slices, services]) hooks.onRestart?.(reset);
    for (const hooks of [services, slices, services, slices]) hooks.onRestart?.(denied);
    services.onUp?.();
    slices.onUp?.();
    expect(lines.filter((line) => !line.startsWith('debug'))).toEqual([
      'info API server reached',
      'warn watch failed',
      'warn watch failed',
      'info API server recovered',
    ]);
    expect(watches.failure).toBe('who?');
  });

  it('log a forbidden optional watch once, with its own message, until it is allowed', () => {
    const { watches, lines } = clusterWatches();
    const [services, slices] = [
      watches.hooks({ whenForbidden: 'no Services' }),
      watches.hooks({ whenForbidden: 'no slices' }),
    ];
    const forbidden = { ...broke, reason: 'denied', error: Object.assign(new Error('no'), { status: 403 }) } as const;
    for (const hooks of [services, slices, services, slices]) hooks.onRestart?.(forbidden);
    expect(watches.isForbidden).toBe(true);
    services.onUp?.();
    expect(watches.isForbidden).toBe(true);
    slices.onUp?.();
    expect(watches.isForbidden).toBe(false);
    services.onRestart?.({ ...forbidden, error: Object.assign(new Error('who?'), { status: 401 }) });
    services.onRestart?.(forbidden);
    const warned = ['warn no Services', 'warn no slices', 'debug no Services', 'debug no slices'];
    expect(lines).toEqual([...warned, 'info API server recovered', 'warn watch failed', 'warn no Services']);
  });

  it('forget one that has ended', () => {
    const { watches, lines, up } = clusterWatches();
    const [pods, namespaces] = [watches.hooks(), watches.hooks()];
    pods.onUp?.();
    namespaces.onRestart?.(broke);
    expect(up.at(-1)).toBe(0);
    watches.drop(namespaces);
    expect([up.at(-1), lines.at(-1)]).toEqual([1, 'info API server recovered']);
  });

  it('may get another one later, which counts from then until its end, and delays no first list', async () => {
    vi.useFakeTimers({ now: 0 });
    onTestFinished(() => void vi.useRealTimers());
    const { watches, up, synced } = clusterWatches();
    const services = watches.hooks();
    services.onUp?.();
    services.onConfirmed?.();
    vi.advanceTimersByTime(1_000);
    const ended = new AbortController();
    const slices = watches.hooks({ until: ended.signal });
    services.onConfirmed?.();
    services.onSynced?.();
    await watches.firstSync;
    expect([synced, watches.unseenMs]).toEqual([['synced'], 0]);
    slices.onRestart?.(broke);
    vi.advanceTimersByTime(1_000);
    services.onConfirmed?.();
    expect([up.at(-1), watches.unseenMs]).toEqual([0, 1_000]);
    ended.abort();
    expect([up.at(-1), watches.unseenMs]).toEqual([1, 0]);
  });

  it('know the last error, also after an answer that no list followed', () => {
    const { watches } = clusterWatches();
    const hooks = watches.hooks();
    expect(watches.failure).toBeUndefined();
    hooks.onRestart?.({ ...broke, error: new Error('list pods', { cause: new Error('refused') }) });
    hooks.onUp?.();
    expect(watches.failure).toBe('list pods: refused');
  });

  it('know why one is down, rather than that another one expired', () => {
    const { watches } = clusterWatches();
    const [pods, namespaces] = [watches.hooks(), watches.hooks()];
    namespaces.onRestart?.({ ...broke, error: new Error('forbidden') });
    pods.onRestart?.({ ...broke, reason: 'expired', error: new Error('too old') });
    expect(watches.failure).toBe('forbidden');
  });

  it('tell since when they are up or down, when they were last confirmed, and the last error', () => {
    vi.useFakeTimers({ now: 0 });
    onTestFinished(() => void vi.useRealTimers());
    const at = (seconds: number): string => new Date(seconds * 1_000).toISOString();
    const { watches } = clusterWatches();
    const hooks = watches.hooks();
    expect(watches.status()).toEqual({ up: false, since: at(0), lastSync: null, lastError: null });
    vi.advanceTimersByTime(1_000);
    hooks.onUp?.();
    hooks.onConfirmed?.();
    vi.advanceTimersByTime(1_000);
    expect(watches.status()).toEqual({ up: true, since: at(1), lastSync: at(1), lastError: null });
    hooks.onRestart?.(broke);
    vi.advanceTimersByTime(1_000);
    hooks.onRestart?.(broke);
    const lastError = { time: at(3), message: 'gone' };
    expect(watches.status()).toEqual({ up: false, since: at(2), lastSync: at(1), lastError });
    vi.advanceTimersByTime(1_000);
    hooks.onUp?.();
    expect(watches.status()).toEqual({ up: true, since: at(4), lastSync: at(1), lastError });
  });

  it('stay up if one was silent or expired', () => {
    const { watches, up } = clusterWatches();
    const hooks = watches.hooks();
    hooks.onUp?.();
    hooks.onRestart?.({ ...broke, reason: 'idle' });
    hooks.onRestart?.({ ...broke, reason: 'expired' });
    expect(up).toEqual([0, 1]);
  });

  it.each(['unreachable', 'garbage', 'denied', 'throttled', 'server_error', 'rejected'] as const)(
    'are down if one fails as %s, until it is answered',
    (reason) => {
      const { watches, up } = clusterWatches();
      const hooks = watches.hooks();
      hooks.onUp?.();
      hooks.onRestart?.({ ...broke, reason });
      hooks.onUp?.();
      expect(up).toEqual([0, 1, 0, 1]);
    },
  );

  it('are down if one pauses for an hour, whatever the reason', () => {
    const { watches, lines, up } = clusterWatches();
    const hooks = watches.hooks();
    hooks.onUp?.();
    hooks.onRestart?.({ ...broke, reason: 'expired', delayMs: 3_600_000 });
    expect(up).toEqual([0, 1, 0]);
    expect(lines).toContain('warn watch failed');
  });

  it('log an exceeded budget once, until a list is complete', () => {
    const { watches, lines, up, over } = clusterWatches();
    const [services, slices] = [watches.hooks(), watches.hooks()];
    const tooMuch = {
      ...broke,
      reason: 'over_budget',
      error: Object.assign(new Error('too much'), { budget: 'bytes' }),
    } as const;
    for (const hooks of [services, slices]) hooks.onUp?.();
    expect(Object.fromEntries(over)).toEqual({ objects: 0, bytes: 0 });
    for (const hooks of [services, slices, services, slices]) {
      hooks.onRestart?.(tooMuch);
      hooks.onUp?.();
    }
    expect(Object.fromEntries(over)).toEqual({ objects: 0, bytes: 1 });
    expect(lines.filter((line) => line.startsWith('warn'))).toEqual(['warn remote exceeds a budget; its watches stop']);
    services.onSynced?.();
    expect([over.get('bytes'), up.at(-1)]).toEqual([1, 0]);
    slices.onSynced?.();
    expect([over.get('bytes'), up.at(-1)]).toEqual([0, 1]);
  });

  it('begin with the age of the process, for a cluster that never answers', () => {
    const { seen } = clusterWatches();
    expect(seen).toHaveLength(1);
    expect(seen[0]).toBeGreaterThan(Date.now() / 1000 - 60);
  });

  it('are synced when all of them are', async () => {
    const { watches, synced } = clusterWatches();
    const [services, slices] = [watches.hooks(), watches.hooks()];
    services.onSynced?.();
    services.onSynced?.();
    await Promise.resolve();
    expect(synced).toEqual([]);
    slices.onSynced?.();
    slices.onSynced?.();
    await watches.firstSync;
    expect(synced).toEqual(['synced']);
  });

  it('have never been confirmed before there is one', () => {
    expect(clusterWatches().watches.status()).toMatchObject({ up: false, lastSync: null });
  });

  it('are as old as the oldest of them', () => {
    const { watches } = clusterWatches();
    const [services, slices] = [watches.hooks(), watches.hooks()];
    services.onConfirmed?.();
    expect(watches.unseenMs).toBe(Infinity);
    slices.onConfirmed?.();
    expect(watches.unseenMs).toBeLessThan(60_000);
  });
});
