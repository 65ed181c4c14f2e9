/** The addresses of one pair, and the shards that they may lie in. */
export type Distribution = {
  /** Each once, in the order in which they are to be listed. */
  readonly wanted: readonly string[];
  /** What the existing shards hold, wanted or not, by number. */
  readonly held: ReadonlyMap<number, ReadonlySet<string>>;
  /** How many addresses one shard may hold, an integer >= 1. */
  readonly max: number;
  /** Whether a shard of this number may exist. False for finitely many: their names are somebody else's. */
  readonly isFree: (shard: number) => boolean;
};

/**
 * Splits addresses into shards, with as few moves as may be: each write of a set makes every node of the cluster
 * program it anew.
 *
 * - An address stays in its shard while that exists, in the lowest one if it is in several.
 * - A shard that holds more than `max` (the limit was lowered) gives up the last of them.
 * - New addresses fill the lowest shard with room, and open another when all are full.
 * - The last shard is emptied, again and again, while the others could hold everything and be 80 % full at most. So
 *   a workload that breathes around the limit doesn't open and close a shard each time.
 * - The first shard is never the empty one: people look for the plain name.
 *
 * Distributing what the result holds gives the result again.
 *
 * @returns the addresses by shard, both ascending, without empty shards
 */
export function distribute({ wanted, held, max, isFree }: Distribution): ReadonlyMap<number, readonly string[]> {
  const first = lowestFree(isFree);
  const shards = [...new Set([first, ...[...held.keys()].filter(isFree)])].toSorted((a, b) => a - b);
  while (shards.length > 1 && wanted.length * 10 <= (shards.length - 1) * max * 8) shards.pop();

  const counts = new Map(shards.map((shard) => [shard, 0]));
  const countOf = (shard: number): number => counts.get(shard) ?? 0;
  const place = (shard: number): number => {
    counts.set(shard, countOf(shard) + 1);
    return shard;
  };
  const hasRoom = (shard: number): boolean => countOf(shard) < max;

  const homes = wanted.map((address) => {
    const home = shards.find((shard) => held.get(shard)?.has(address) === true && hasRoom(shard));
    return home === undefined ? undefined : place(home);
  });
  // Every shard before `filling` is full.
  let filling = 0;
  const filled = homes.map((home) => {
    if (home !== undefined) return home;
    while (filling < shards.length && !hasRoom(shards[filling]!)) filling++;
    if (filling === shards.length) shards.push(lowestFree((shard) => isFree(shard) && !counts.has(shard)));
    return place(shards[filling]!);
  });

  // With no new address to fill it, the first shard takes over from the last.
  const last = shards.findLast((shard) => countOf(shard) > 0);
  const final = countOf(first) > 0 ? filled : filled.map((shard) => (shard === last ? first : shard));
  return grouped(wanted, final);
}

function lowestFree(isFree: (shard: number) => boolean): number {
  let shard = 0;
  while (!isFree(shard)) shard++;
  return shard;
}

function grouped(addresses: readonly string[], shards: readonly number[]): ReadonlyMap<number, readonly string[]> {
  const groups = new Map<number, string[]>(
    [...new Set(shards)].toSorted((a, b) => a - b).map((shard) => [shard, []]),
  );
  for (const [i, address] of addresses.entries()) groups.get(shards[i]!)?.push(address);
  return groups;
}
