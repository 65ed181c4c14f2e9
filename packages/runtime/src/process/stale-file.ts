import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

export type StaleFileOptions = {
  /** The content of the file when it was read. */
  readonly content: string;
  readonly signal: AbortSignal;
  readonly intervalMs?: number;
  /** The file differs from `content` now, or is equal to it again. */
  readonly onStale: (isStale: boolean) => void;
};

/**
 * Compares a config file with what was read, every 30 s until `signal` is aborted: without a restart, a change takes
 * effect at the next start, as a surprise. Ignores a file that can't be read: kubelet replaces it by a symlink.
 */
export async function watchForStaleness(
  path: string,
  { content, signal, intervalMs = 30_000, onStale }: StaleFileOptions,
): Promise<void> {
  let wasStale = false;
  for (;;) {
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const now = await readFile(path, 'utf8').catch(() => undefined);
    const isStale: boolean = now === undefined ? wasStale : now !== content;
    if (isStale !== wasStale) onStale(isStale);
    wasStale = isStale;
  }
}
