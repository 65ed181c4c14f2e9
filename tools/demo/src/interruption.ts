/** Why the demo stops although nothing is wrong: somebody asked for it, or nobody listens any more. */
export class Interruption extends Error {
  readonly code = 'INTERRUPTED';
}

/**
 * Settles as `work` does, or rejects with the signal's reason as soon as it is aborted. The work goes on then, and what
 * becomes of it is nobody's concern.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
