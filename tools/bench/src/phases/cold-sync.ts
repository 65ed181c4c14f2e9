import { setTimeout as delay } from 'node:timers/promises';
import type { Program } from '../measure/program.ts';
import { usageOf } from '../measure/usage.ts';
import type { Bench } from './bench.ts';
import { type Requests, requestsOf } from './requests-of.ts';
import { type Expected, whenComplete } from './when-complete.ts';

/** From exec until the local cluster has everything. */
export type ColdSync = {
  /** Until the first object was seen: by then the program has made up its mind about something. */
  readonly firstSeconds: number;
  /** Until the last one was. */
  readonly allSeconds: number;
  /** Used until then. */
  readonly cpuSeconds: number;
  readonly peakMb: number;
  /** After a while without anything to do. */
  readonly settledMb: number;
  readonly requests: Requests;
};

/** Watches a program that was just started, within the same turn of the event loop, on a local cluster without objects. */
export async function coldSync(
  { watch, remotes, local }: Bench,
  program: Program,
  options: { expected: Expected; account: string; settleSeconds: number; signal: AbortSignal },
): Promise<ColdSync> {
  const { expected, account, settleSeconds, signal } = options;
  const { firstAtMs, allAtMs } = await whenComplete(watch, expected, { signal });
  const { cpuSeconds, peakMb } = await usageOf(program.pid);
  await delay(settleSeconds * 1000, undefined, { signal });
  const { residentMb: settledMb } = await usageOf(program.pid);
  const since = (atMs: number) => (atMs - program.startedAtMs) / 1000;
  return {
    firstSeconds: since(firstAtMs),
    allSeconds: since(allAtMs),
    cpuSeconds,
    peakMb,
    settledMb,
    requests: await requestsOf({ remotes, local }, account),
  };
}
