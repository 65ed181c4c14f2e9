import { atRate } from '../measure/pace.ts';
import type { Bench, Change } from './bench.ts';

/** Many pods of one workload get addresses within a few seconds. */
export type Rollout = {
  readonly pods: number;
  /** Seconds from before the first address until all addresses were seen in the local cluster. */
  readonly seconds: number;
  /** Writes of the workload's local objects in that time. */
  readonly writes: number;
};

const ROLLOUT_SECONDS = 5;

/** Makes changes of one key, one for each pod, evenly over 5 s. */
export async function rollout(
  { watch }: Bench,
  changes: readonly Change[],
  { signal }: { signal: AbortSignal },
): Promise<Rollout> {
  const key = changes[0]?.key;
  let begun = 0;
  let writes = 0;
  const startMs = performance.now();
  const seen = watch.until(
    (local) => {
      if (local.key !== key) return undefined;
      writes += 1;
      const complete = begun === changes.length && changes.every(({ item }) => local.items.includes(item));
      return complete ? local.atMs : undefined;
    },
    { signal },
  );
  const made = atRate(changes, { perSecond: changes.length / ROLLOUT_SECONDS }, async ({ apply }) => {
    const done = apply();
    begun += 1;
    await done;
  });
  const [seenAtMs] = await Promise.all([seen, made]);
  return { pods: changes.length, seconds: (seenAtMs - startMs) / 1000, writes };
}
