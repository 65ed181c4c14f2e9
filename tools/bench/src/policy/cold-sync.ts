import { setTimeout as delay } from 'node:timers/promises';
import { userOf } from '../load/clusters.ts';
import { expectedNets } from '../load/fleet.ts';
import type { Program } from '../measure/program.ts';
import { countVerbs, type VerbCounts } from '../measure/requests.ts';
import { usageOf } from '../measure/usage.ts';
import type { Bench } from './bench.ts';

/** From exec until the local cluster has all sets. */
export type ColdSync = {
  /** Until the first set was seen: by then the program has downloaded the pods and made up its mind. */
  readonly firstSetSeconds: number;
  readonly allSetsSeconds: number;
  /** Used until then. */
  readonly cpuSeconds: number;
  readonly peakMb: number;
  /** After a while without anything to do. */
  readonly settledMb: number;
  readonly requests: Requests;
};

/** Of one program, on both clusters. */
export type Requests = { readonly remote: VerbCounts; readonly local: VerbCounts };

/** Watches a program that was just started, within the same turn of the event loop, on a local cluster without sets. */
export async function coldSync(
  { watch, fleets, remotes, local }: Bench,
  program: Program,
  { account, settleSeconds, signal }: { account: string; settleSeconds: number; signal: AbortSignal },
): Promise<ColdSync> {
  const missing = expectedNets(fleets.flatMap(({ members }) => members));
  let firstAtMs: number | undefined;
  const allAtMs = await watch.until(
    ({ key, nets, atMs }) => {
      firstAtMs ??= atMs;
      if (isComplete(missing.get(key), nets)) missing.delete(key);
      return missing.size === 0 ? atMs : undefined;
    },
    { signal },
  );
  const { cpuSeconds, peakMb } = await usageOf(program.pid);
  await delay(settleSeconds * 1000, undefined, { signal });
  const { residentMb: settledMb } = await usageOf(program.pid);
  const since = (atMs: number) => (atMs - program.startedAtMs) / 1000;
  return {
    firstSetSeconds: since(firstAtMs ?? allAtMs),
    allSetsSeconds: since(allAtMs),
    cpuSeconds,
    peakMb,
    settledMb,
    requests: await requestsOf({ remotes, local }, account),
  };
}

/** All requests of a program so far. */
export async function requestsOf({ remotes, local }: Pick<Bench, 'remotes' | 'local'>, account: string): Promise<Requests> {
  const user = userOf(account);
  const seen = await Promise.all(remotes.map(({ requests }) => requests()));
  return { remote: countVerbs(seen.flat(), user), local: countVerbs(await local.requests(), user) };
}

function isComplete(expected: ReadonlySet<string> | undefined, nets: readonly string[]): boolean {
  return expected?.size === nets.length && nets.every((net) => expected.has(net));
}
