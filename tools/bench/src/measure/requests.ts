/** Requests by Kubernetes verb. */
export type VerbCounts = Readonly<Record<string, number>>;

/** Counts requests, verbs in alphabetical order. */
export function countVerbs(requests: readonly { readonly verb: string }[]): VerbCounts {
  const byVerb = Map.groupBy(requests, ({ verb }) => verb);
  return Object.fromEntries([...byVerb.keys()].toSorted().map((verb) => [verb, byVerb.get(verb)!.length]));
}

/** The requests after `before`, without verbs that have none. */
export function since(before: VerbCounts, now: VerbCounts): VerbCounts {
  const differences = Object.entries(now).map(([verb, count]) => [verb, count - (before[verb] ?? 0)] as const);
  return Object.fromEntries(differences.filter(([, count]) => count > 0));
}

/** The sum of all verbs but these. */
export function total(counts: VerbCounts, without: readonly string[] = []): number {
  const counted = Object.entries(counts).filter(([verb]) => !without.includes(verb));
  return counted.reduce((sum, [, count]) => sum + count, 0);
}
