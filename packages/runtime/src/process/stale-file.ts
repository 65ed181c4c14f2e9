import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

export type StaleFileOptions = {
  /** What the file held when it was read. */
  readonly content: string;
  readonly signal: AbortSignal;
  readonly intervalMs?: number;
  /** The file says something else now than what is in force, or again the same. */
  readonly onStale: (isStale: boolean) => void;
};

/**
 * Looks at a config file every 30 s until `signal` is aborted: it is read once, so a change that nobody made us
 * read is a surprise for the next start. A file that can't be read says nothing: kubelet swaps it by a symlink.
 */
export async function watchForStaleness(
  path: string,
  { content, signal, intervalMs = 30_000, onStale }: StaleFileOptions,
): Promise<void> {
  let wasStale = false;
  while (!signal.aborted) {
    await delay(intervalMs, undefined, { signal }).catch(unlessAborted);
    const now = signal.aborted ? undefined : await readFile(path, 'utf8').catch(() => undefined);
    const isStale: boolean = now === undefined ? wasStale : now !== content;
    if (isStale !== wasStale) onStale(isStale);
    wasStale = isStale;
  }
}

function unlessAborted(error: unknown): void {
  if (!(error instanceof Error && error.name === 'AbortError')) throw error;
}
