/** Which addresses each shard has. */
export type Shards = ReadonlyMap<number, ReadonlySet<string>>;

/** Addresses, and the shards for them. */
export type Distribution = {
  /** Each once, in the order of the result. */
  readonly wanted: readonly string[];
  /** The addresses in the existing shards, wanted or not. */
  readonly current: Shards;
  /** How many addresses one shard can have, an integer >= 1. */
  readonly max: number;
  /** Whether the name of this shard is free. False for finitely many. */
  readonly isFree: (shard: number) => boolean;
};

/**
 * Splits addresses into shards, with as few moves as possible, because every node of the cluster programs a set anew after
 * each write.
 *
 * - An address stays in its shard while that exists, or in the lowest one if it is in several.
 * - A shard with more than `max` addresses (the limit was lowered) loses the last of them.
 * - New addresses fill the lowest shard with room. When all are full, they open another.
 * - While all but the last shard have room for everything at 80 % of `max`, the last one is emptied. So a workload whose
 *   size changes around the limit doesn't open and close a shard each time.
 * - The first shard is never empty, as people look for the plain name.
 *
 * With its own result as `current`, it returns the same result.
 *
 * @returns the addresses by shard, both ascending, without empty shards
 */
export function distribute({ wanted, current, max, isFree }: Distribution): ReadonlyMap<number, readonly string[]> {
  const first = lowestFree(isFree);
  const shards = [...new Set([first, ...[...current.keys()].filter(isFree)])].toSorted((a, b) => a - b);
  while (shards.length > 1 && wanted.length * 10 <= (shards.length - 1) * max * 8) shards.pop();

  const homes = new Map<string, number>();
  const counts = new Map(shards.map((shard) => [shard, 0]));
  const hasRoom = (shard: number): boolean => (counts.get(shard) ?? 0) < max;
  const put = (address: string, shard: number): void => {
    homes.set(address, shard);
    counts.set(shard, (counts.get(shard) ?? 0) + 1);
  };
  for (const address of wanted) {
    const home = shards.find((shard) => current.get(shard)?.has(address) === true && hasRoom(shard));
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
  // If no new address filled the first shard, it gets the addresses of the last one.
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
