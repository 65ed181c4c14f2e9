import { setTimeout as delay } from 'node:timers/promises';
import { untilAborted } from '../interruption.ts';
import { type GlobalSource, isGlobalRight, isMirrorRight, isRight, netsOf } from './expectation.ts';
import type { Watched } from './latest.ts';
import { type Mirror, readyAddresses } from './mirror-watch.ts';
import type { NetworkSet } from './set-watch.ts';
import type { Site } from './site.ts';
import type { Workload } from './workload.ts';

/** What is watched of a workload, and where. */
export type Subject = { readonly site: Site; readonly workload: Workload; readonly signal: AbortSignal };

/** A version of a thing, undefined where there was none, and when it was seen after the change had begun. */
type Version<T> = { readonly value: T | undefined; readonly ms: number };

/** What became of a thing while something was changed. */
export type Observation<T> = {
  /** From the first request of the change to the thing being right. */
  readonly rightMs: number;
  /** How long the requests of the change took themselves. */
  readonly changeMs: number;
  /** All versions meanwhile, the last one being right. */
  readonly versions: readonly Version<T>[];
};

type Change = () => Promise<unknown>;

/**
 * The apps write an object once in 200 ms at most. A change that comes later than that finds them idle, so that what is
 * measured isn't the rest of a wait that the change before it began.
 */
const QUIET_MS = 250;
const TIMEOUT_MS = 15_000;

/**
 * Makes a change, and watches until `site` has the set of `workload` that it should have afterwards.
 *
 * @param change a change of the workload, or of the set itself
 * @throws {Error} if the set isn't right within 15 s
 */
export function observe({ site, workload, signal }: Subject, change: Change): Promise<Observation<NetworkSet>> {
  const what = {
    watched: site.sets,
    name: workload.setName,
    isRight: (set: NetworkSet | undefined) => isRight(set, workload),
    countOf: (set: NetworkSet | undefined) => set?.nets.length,
    complaint: `${site.name}'s set ${workload.setName}`,
  };
  return watchUntilRight({ ...what, wanted: () => netsOf(workload).size, signal }, change);
}

/**
 * The same for the mirror of the workload's Service.
 *
 * @throws {Error} if the mirror isn't right within 15 s
 */
export function observeMirror({ site, workload, signal }: Subject, change: Change): Promise<Observation<Mirror>> {
  const what = {
    watched: site.mirrors,
    name: workload.mirrorName,
    isRight: (mirror: Mirror | undefined) => isMirrorRight(mirror, workload),
    countOf: (mirror: Mirror | undefined) => mirror && readyAddresses(mirror).length,
    complaint: `${site.name}'s mirror ${workload.mirrorName}`,
  };
  return watchUntilRight({ ...what, wanted: () => (workload.isExposed ? netsOf(workload).size : 0), signal }, change);
}

/** A global Service, where it is watched, and what it depends on. */
export type GlobalSubject = Omit<GlobalSource, 'members'> & {
  readonly site: Site;
  readonly members: readonly [Workload, ...Workload[]];
  readonly signal: AbortSignal;
};

/**
 * The same for the global Service of some workloads of one name.
 *
 * @throws {Error} if the global Service isn't right within 15 s
 */
export function observeGlobal({ site, members, lost, signal }: GlobalSubject, change: Change): Promise<Observation<Mirror>> {
  const name = members[0].globalName;
  const serving = () => members.filter(({ cluster, isExposed }) => isExposed && !lost.includes(cluster));
  const what = {
    watched: site.mirrors,
    name,
    isRight: (global: Mirror | undefined) => isGlobalRight(global, { members, lost }),
    countOf: (global: Mirror | undefined) => global && readyAddresses(global).length,
    complaint: `${site.name}'s global Service ${name}`,
  };
  return watchUntilRight({ ...what, wanted: () => netsOf({ pods: serving().flatMap(({ pods }) => pods) }).size, signal }, change);
}

/** A thing that is watched, and how it should be. */
type Expectation<T> = {
  readonly watched: Watched<T>;
  readonly name: string;
  readonly isRight: (value: T | undefined) => boolean;
  /** How many addresses it has, and should have, for the complaint. */
  readonly countOf: (value: T | undefined) => number | undefined;
  readonly wanted: () => number;
  /** What isn't right, if it isn't. */
  readonly complaint: string;
  readonly signal: AbortSignal;
};

async function watchUntilRight<T>(
  { watched, name, isRight: isAsWanted, countOf, wanted, complaint, signal }: Expectation<T>,
  change: Change,
): Promise<Observation<T>> {
  await delay(QUIET_MS, undefined, { signal });
  const versions: Version<T>[] = [];
  const { promise: right, resolve } = Promise.withResolvers<number>();
  const startMs = performance.now();
  const unsubscribe = watched.subscribe(name, (value, atMs) => {
    versions.push({ value, ms: atMs - startMs });
    if (isAsWanted(value)) resolve(atMs - startMs);
  });
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    await change();
    const changeMs = performance.now() - startMs;
    const rightMs = await untilAborted(right, AbortSignal.any([signal, timeout]));
    return { rightMs, changeMs, versions };
  } catch (error) {
    if (!timeout.aborted || signal.aborted) throw error;
    const count = countOf(watched.get(name)) ?? 'no';
    throw new Error(`${complaint} is not right after ${TIMEOUT_MS / 1000} s: it has ${count} addresses, its pods have ${wanted()}`);
  } finally {
    unsubscribe();
  }
}
