import { uptime } from 'node:os';

/** The time of this machine: an election trusts no clock of another one. */
export type LeaderClock = {
  /** Monotonic milliseconds, which also pass while this process is stopped. */
  now(): number;
  /** Milliseconds since 1970, for people who read the Lease. */
  epochMs(): number;
  /** Calls back after `ms`, or later if the process was stopped. @returns what cancels it */
  after(ms: number, call: () => void): () => void;
};

type Bounds = { readonly signal: AbortSignal; readonly clock: LeaderClock };

/**
 * The clock of the machine. On Linux, performance.now() stops while the machine is suspended (CLOCK_MONOTONIC), so a
 * leader that slept through its Lease would believe that it still leads. The uptime doesn't (/proc/uptime,
 * CLOCK_BOOTTIME), and its resolution of 10 ms is enough for an election by seconds.
 */
export const machineClock: LeaderClock = {
  now: () => uptime() * 1000,
  epochMs: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, Math.ceil(ms));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or as soon as `signal` is aborted, which the caller must check. */
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

/** Makes one request for the Lease, whose signal is aborted after `ms`, and with `signal`. */
export async function within<T>(
  ms: number,
  call: (options: { signal: AbortSignal }) => Promise<T>,
  { signal, clock }: Bounds,
): Promise<T> {
  const timeout = new AbortController();
  const cancel = clock.after(ms, () => timeout.abort(new Error(`no answer about the Lease within ${ms} ms`)));
  try {
    return await call({ signal: AbortSignal.any([signal, timeout.signal]) });
  } finally {
    cancel();
  }
}
