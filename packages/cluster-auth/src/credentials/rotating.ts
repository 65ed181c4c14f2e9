/**
 * A value that others replace while we run: a token, a key pair, a CA. Every part of a connection is one, and the
 * connection compares their values.
 *
 * The methods take no signal: all callers share one read, which has its own timeout. A caller that can't wait that long
 * uses `abortable`.
 */
export interface Rotating<T> {
  /** The value to use now. Rejects until there has been one. */
  current(): Promise<T>;
  /**
   * The value was refused: reads it again, as often as its source allows. Afterwards `current` may still return the old
   * value.
   */
  renew(): Promise<void>;
}

/** A value that never changes. */
export function fixed<T>(value: T): Rotating<T> {
  return { current: async () => value, renew: async () => {} };
}

/** Waits for shared work until the caller's signal is aborted. The work itself continues. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Runs the work once at a time: calls while it runs share its outcome. */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
  let flight: Promise<T> | undefined;
  return () => {
    flight ??= work().finally(() => (flight = undefined));
    return flight;
  };
}
