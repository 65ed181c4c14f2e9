import { setTimeout } from 'node:timers/promises';

/** Resolves after `ms`, or as soon as `signal` is aborted: whoever slept looks at the signal next anyway. */
export async function sleep(ms: number, { signal }: { signal: AbortSignal }): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
