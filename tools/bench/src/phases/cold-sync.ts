import { setTimeout as delay } from 'node:timers/promises';
import type { Program } from '../measure/program.ts';
import { usageOf } from '../measure/usage.ts';
import type { Bench } from './bench.ts';
import { type Requests, requestsOf } from './requests-of.ts';
import { type Expected, whenComplete } from './when-complete.ts';

/** The time from exec until the local cluster is complete. */
export type ColdSync = {
  /** Seconds until the first object was seen. */
  readonly firstSeconds: number;
  /** Seconds until the last object was seen. */
  readonly allSeconds: number;
  /** CPU time until then. */
  readonly cpuSeconds: number;
  readonly peakMb: number;
  /** Memory after some idle seconds. */
  readonly settledMb: number;
  readonly requests: Requests;
};

/** Measures a program that was started in the same turn of the event loop, on an empty local cluster. */
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
