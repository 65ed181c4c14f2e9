/**
 * A value that others replace while we run: a token, a key pair, a CA. Every part of a connection is one of these,
 * and the connection compares their values.
 *
 * The methods take no signal: one read is shared by all who wait for it and is bounded by a timeout of its own. Who
 * can't wait that long leaves by `abortable`.
 */
export interface Rotating<T> {
  /** The value to use now. Rejects while there never was one. */
  current(): Promise<T>;
  /**
   * The value was refused: reads it anew, as often as its source allows. Whoever waits for it may see the old value
   * still, when there is no other.
   */
  renew(): Promise<void>;
}

/** A value that nobody replaces. */
export function fixed<T>(value: T): Rotating<T> {
  return { current: async () => value, renew: async () => {} };
}

/** Waits for shared work no longer than a caller wants to. The work itself goes on. */
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

/** Runs one piece of work at a time: who calls while it runs shares its outcome. */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
  let flight: Promise<T> | undefined;
  return () => {
    flight ??= work().finally(() => (flight = undefined));
    return flight;
  };
}
