import { setTimeout as delay } from 'node:timers/promises';
import type { Program } from '../measure/program.ts';
import { summarize, type Summary } from '../measure/summary.ts';
import { usageOf } from '../measure/usage.ts';
import type { Station } from './station.ts';

/** The cost of repeated reads of /metrics. */
export type Scrapes = {
  readonly count: number;
  /** Length of the last answer, in units of 1,000 bytes. */
  readonly kilobytes: number;
  /** From the request to the end of the answer, with the start of the client process. */
  readonly ms: Summary;
  /** Resident memory: the maximum right after an answer, and after the last one. */
  readonly mostMb: number;
  readonly residentMb: number;
};

/** A usual interval of Prometheus. */
const INTERVAL_MS = 15_000;

/** Reads the metrics of a program that has settled. */
export async function scrapes(
  station: Station,
  { pid }: Program,
  { count, signal }: { count: number; signal: AbortSignal },
): Promise<Scrapes> {
  const times: number[] = [];
  const memory: number[] = [];
  let bytes = 0;
  while (times.length < count) {
    if (times.length > 0) await delay(INTERVAL_MS, undefined, { signal });
    const askedAtMs = performance.now();
    bytes = Buffer.byteLength(await station.ask('/metrics'));
    times.push(performance.now() - askedAtMs);
    memory.push((await usageOf(pid)).residentMb);
  }
  return {
    count,
    kilobytes: bytes / 1000,
    ms: summarize(times),
    mostMb: Math.max(...memory),
    residentMb: memory.at(-1) ?? NaN,
  };
}
