import { uptime } from 'node:os';

/** The time of this machine, which is all that an election goes by: no clock of another machine is ever trusted. */
export type LeaderClock = {
  /** Milliseconds that only grow, and grow on while this process is stopped. */
  now(): number;
  /** Milliseconds since 1970, for people who read the Lease. */
  epochMs(): number;
  /** Calls back after `ms`, or later if the process was stopped. @returns what calls it off */
  after(ms: number, call: () => void): () => void;
};

type Bounds = { readonly signal: AbortSignal; readonly clock: LeaderClock };

/**
 * The clock of the machine. Not performance.now(), which on Linux stands still while the machine is suspended
 * (CLOCK_MONOTONIC), and a leader that slept through its Lease would take itself for one: the uptime goes on
 * (/proc/uptime, CLOCK_BOOTTIME). Its 10 ms are fine enough for an election by seconds.
 */
export const machineClock: LeaderClock = {
  now: () => uptime() * 1000,
  epochMs: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, Math.ceil(ms));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or as soon as `signal` is aborted: whoever slept looks at the signal next anyway. */
export async function sleep(ms: number, { signal, clock }: Bounds): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = (): void => resolve();
  const cancel = clock.after(ms, wake);
  signal.addEventListener('abort', wake, { once: true });
  await promise;
  cancel();
  signal.removeEventListener('abort', wake);
}

/** Makes one call about the Lease, whose signal is aborted after `ms`, and with `signal`. */
export async function within<T>(
  ms: number,
  call: (options: { signal: AbortSignal }) => Promise<T>,
  { signal, clock }: Bounds,
): Promise<T> {
  const late = new AbortController();
  const cancel = clock.after(ms, () => late.abort(new Error(`no answer about the Lease within ${ms} ms`)));
  try {
    return await call({ signal: AbortSignal.any([signal, late.signal]) });
  } finally {
    cancel();
  }
}
