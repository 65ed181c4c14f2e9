import { setTimeout as delay } from 'node:timers/promises';
import { untilAborted } from '../interruption.ts';
import { isRight, netsOf } from './expectation.ts';
import type { NetworkSet } from './set-watch.ts';
import type { Site } from './site.ts';
import type { Workload } from './workload.ts';

/** Whose set is watched, and where. */
export type Subject = { readonly site: Site; readonly workload: Workload; readonly signal: AbortSignal };

/** A version of a set, undefined where there was none, and when it was seen after the change had begun. */
type Version = { readonly set: NetworkSet | undefined; readonly ms: number };

/** What became of a set while something was changed. */
export type Observation = {
  /** From the first request of the change to the set being right. */
  readonly rightMs: number;
  /** How long the requests of the change took themselves. */
  readonly changeMs: number;
  /** All versions meanwhile, the last one being right. */
  readonly versions: readonly Version[];
};

/**
 * The app writes a set once in 200 ms at most. A change that comes later than that finds it idle, so that what is
 * measured isn't the rest of a wait that the change before it began.
 */
const QUIET_MS = 250;
const PATIENCE_MS = 15_000;

/**
 * Makes a change, and watches until `site` has of `workload` what it should have afterwards.
 *
 * @param change a change of the workload, or of the set itself
 * @throws {Error} if the set isn't right within 15 s
 */
export async function observe(
  { site, workload, signal }: Subject,
  change: () => Promise<unknown>,
): Promise<Observation> {
  await delay(QUIET_MS, undefined, { signal });
  const versions: Version[] = [];
  const { promise: right, resolve } = Promise.withResolvers<number>();
  const startMs = performance.now();
  const unsubscribe = site.sets.subscribe(workload.setName, (set, atMs) => {
    versions.push({ set, ms: atMs - startMs });
    if (isRight(set, workload)) resolve(atMs - startMs);
  });
  const patience = AbortSignal.timeout(PATIENCE_MS);
  try {
    await change();
    const changeMs = performance.now() - startMs;
    const rightMs = await untilAborted(right, AbortSignal.any([signal, patience]));
    return { rightMs, changeMs, versions };
  } catch (error) {
    throw patience.aborted && !signal.aborted ? new Error(complaint(site, workload)) : error;
  } finally {
    unsubscribe();
  }
}

function complaint(site: Site, workload: Workload): string {
  const nets = site.sets.get(workload.setName)?.nets.length ?? 'no';
  const wanted = netsOf(workload).size;
  return (
    `${site.name}'s set ${workload.setName} is not right after ${PATIENCE_MS / 1000} s: ` +
    `it has ${nets} addresses, its pods have ${wanted}`
  );
}
