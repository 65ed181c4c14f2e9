import { compareText } from '@kube-semaphore/naming';
import { MOST_DRAIN_CHARACTERS } from '../../../names.ts';
import type { StringMap } from '../objects.ts';

/** A cluster whose endpoints an operator wants to be used last. */
export type Drain = {
  readonly cluster: string;
  /** When, in RFC 3339; null: it doesn't say. */
  readonly since: string | null;
  /** Who; null: it doesn't say. */
  readonly by: string | null;
  /** Why; null: it doesn't say. */
  readonly reason: string | null;
};

/**
 * Reads the data of the ConfigMap with the drains, sorted by cluster. The key of a cluster drains it, whatever its value: one
 * that `semaphore drain` didn't write is the reason.
 */
export const readDrains = (data: StringMap): readonly Drain[] =>
  Object.entries(data)
    .map(([cluster, value]) => ({ cluster, ...detailsOf(value) }))
    .toSorted((a, b) => compareText(a.cluster, b.cluster));

function detailsOf(value: string): Omit<Drain, 'cluster'> {
  const { since, by, reason } = recordIn(value) ?? { reason: value };
  const time = typeof since === 'string' ? Date.parse(since) : NaN;
  return { since: Number.isNaN(time) ? null : new Date(time).toISOString(), by: textOf(by), reason: textOf(reason) };
}

function recordIn(value: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    // Written by hand.
    return undefined;
  }
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, MOST_DRAIN_CHARACTERS) : null;
