import { setTimeout as delay } from 'node:timers/promises';
import { untilAborted } from '../interruption.ts';
import type { NetworkSet } from './set-watch.ts';
import type { Site } from './site.ts';
import type { Workload } from './workload.ts';

/** What became of a set while something was changed. */
export type Observation = {
  /** From the first request of the change to the set being right. */
  readonly rightMs: number;
  /** How long the requests of the change took themselves. */
  readonly changeMs: number;
  /** Every version of the set meanwhile, undefined where there was none. */
  readonly versions: readonly (NetworkSet | undefined)[];
};

/**
 * The app collects what happens to a set within 200 ms of its last write. A change that is made later is a lone one,
 * and what it takes isn't the end of the wait that the change before it began.
 */
const QUIET_MS = 250;
const PATIENCE_MS = 15_000;

/**
 * Makes a change, and watches until the set of `workload` in `site` is what it should be afterwards: gone if there are
 * no pods, else with exactly their addresses.
 *
 * @param change a change of the workload, or of the set itself
 * @throws {Error} if the set isn't right within 15 s
 */
export async function observe(
  { site, workload, signal }: { site: Site; workload: Workload; signal: AbortSignal },
  change: () => Promise<unknown>,
): Promise<Observation> {
  await delay(QUIET_MS, undefined, { signal });
  const versions: (NetworkSet | undefined)[] = [];
  const { promise: right, resolve } = Promise.withResolvers<number>();
  const unsubscribe = site.sets.subscribe(workload.setName, (set, atMs) => {
    versions.push(set);
    if (isRight(set, workload)) resolve(atMs);
  });
  const patience = AbortSignal.timeout(PATIENCE_MS);
  try {
    const startMs = performance.now();
    await change();
    const changeMs = performance.now() - startMs;
    const rightMs = (await untilAborted(right, AbortSignal.any([signal, patience]))) - startMs;
    return { rightMs, changeMs, versions };
  } catch (error) {
    if (signal.aborted || !patience.aborted) throw error;
    const found = site.sets.get(workload.setName);
    const has = found ? `has ${found.nets.length} addresses of ${netsOf(workload).size}` : 'is missing';
    throw new Error(`${workload.setName} is not right in ${site.name} after ${PATIENCE_MS / 1000} s: it ${has}`, {
      cause: error,
    });
  } finally {
    unsubscribe();
  }
}

/** Whether a set is what it should be for the pods of a workload. */
export function isRight(set: NetworkSet | undefined, workload: Workload): boolean {
  const wanted = netsOf(workload);
  if (set === undefined) return wanted.size === 0;
  const labels = Object.values(set.labels);
  return (
    set.nets.length === wanted.size &&
    set.nets.every((net) => wanted.has(net)) &&
    [workload.cluster, workload.namespace, workload.app].every((value) => labels.includes(value))
  );
}

function netsOf({ pods }: Workload): ReadonlySet<string> {
  return new Set(pods.flatMap(({ ips }) => ips.map((ip) => `${ip}/${ip.includes(':') ? 128 : 32}`)));
}
