import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

type StalenessOptions = {
  readonly signal: AbortSignal;
  readonly intervalMs?: number;
  /** It is stale now, or is no more. */
  readonly onStale: (isStale: boolean) => void;
};

export type StaleFileOptions = StalenessOptions & {
  /** The content of the file when it was read. */
  readonly content: string;
};

/** Asks every 5 s until `signal` is aborted, so that what is invalid is told although nothing uses it. */
export async function watchStaleness(
  isStaleNow: () => Promise<boolean>,
  { signal, intervalMs = 5_000, onStale }: StalenessOptions,
): Promise<void> {
  let wasStale = false;
  for (;;) {
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const isStale = await isStaleNow();
    if (isStale !== wasStale) onStale(isStale);
    wasStale = isStale;
  }
}

/**
 * Compares a config file with what was read, every 30 s until `signal` is aborted: without a restart, a change takes
 * effect at the next start, as a surprise. Ignores a file that can't be read: kubelet replaces it by a symlink.
 */
export function watchForStaleness(
  path: string,
  { content, intervalMs = 30_000, ...options }: StaleFileOptions,
): Promise<void> {
  let now = content;
  const isStale = async (): Promise<boolean> => {
    now = await readFile(path, 'utf8').catch(() => now);
    return now !== content;
  };
  return watchStaleness(isStale, { ...options, intervalMs });
}
