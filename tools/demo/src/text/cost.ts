import { formatDuration } from './duration.ts';

/** What a change was good for: all versions of the thing that it brought about, and how long its requests took. */
export type Cost = { readonly versions: readonly unknown[]; readonly changeMs: number };

/**
 * In how many writes a change came through, and how much of the time was its own: `in 1 write (the update took 14 ms of it)`.
 *
 * @param change what was done to the source, as a noun
 */
export function costOf({ versions: { length }, changeMs }: Cost, change: string): string {
  return `in ${length} ${length === 1 ? 'write' : 'writes'} (${change} took ${formatDuration(changeMs)} of it)`;
}
