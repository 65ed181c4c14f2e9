import type { LoggedRequest } from '../load/clusters.ts';

/** Requests by Kubernetes verb. */
export type VerbCounts = Readonly<Record<string, number>>;

/** Verbs that only read. */
const READING = new Set(['get', 'list', 'watch']);

/** Counts a user's requests, verbs in alphabetical order. */
export function countVerbs(requests: readonly LoggedRequest[], user: string): VerbCounts {
  const counts = new Map<string, number>();
  for (const request of requests) {
    if (request.user === user) counts.set(request.verb, (counts.get(request.verb) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The requests after `before`, without verbs that have none. */
export function since(before: VerbCounts, now: VerbCounts): VerbCounts {
  const differences = Object.entries(now).map(([verb, count]) => [verb, count - (before[verb] ?? 0)] as const);
  return Object.fromEntries(differences.filter(([, count]) => count > 0));
}

/** The sum of all verbs. */
export function total(counts: VerbCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Requests for single objects: lists and watches are few for any number of objects. */
export function forObjects({ list: _list, watch: _watch, ...counts }: VerbCounts): number {
  return total(counts);
}

/** Requests that write, also failed ones. */
export function writesIn(counts: VerbCounts): number {
  return total(Object.fromEntries(Object.entries(counts).filter(([verb]) => !READING.has(verb))));
}
