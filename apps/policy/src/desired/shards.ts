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

  const homes = new Map<string, number>();
  const counts = new Map(shards.map((shard) => [shard, 0]));
  const hasRoom = (shard: number): boolean => (counts.get(shard) ?? 0) < max;
  const put = (address: string, shard: number): void => {
    homes.set(address, shard);
    counts.set(shard, (counts.get(shard) ?? 0) + 1);
  };
  for (const address of wanted) {
    const home = shards.find((shard) => held.get(shard)?.has(address) === true && hasRoom(shard));
    if (home !== undefined) put(address, home);
  }
  // Every shard before `filling` is full.
  let filling = 0;
  for (const address of wanted) {
    if (homes.has(address)) continue;
    while (filling < shards.length && !hasRoom(shards[filling]!)) filling++;
    if (filling === shards.length) shards.push(lowestFree((shard) => !counts.has(shard) && isFree(shard)));
    put(address, shards[filling]!);
  }
  // With no new address to fill it, the first shard takes over from the last.
  const last = shards.findLast((shard) => counts.get(shard) !== 0);
  if (counts.get(first) === 0 && last !== undefined) {
    for (const [address, shard] of homes) if (shard === last) homes.set(address, first);
  }
  return grouped(wanted, homes);
}

function lowestFree(isFree: (shard: number) => boolean): number {
  let shard = 0;
  while (!isFree(shard)) shard++;
  return shard;
}

function grouped(
  wanted: readonly string[],
  homes: ReadonlyMap<string, number>,
): ReadonlyMap<number, readonly string[]> {
  const groups = Map.groupBy(wanted, (address) => homes.get(address)!);
  return new Map([...groups].toSorted(([a], [b]) => a - b));
}
