import { setTimeout as delay } from 'node:timers/promises';
import { pollUntil } from '../measure/poll.ts';
import type { Program } from '../measure/program.ts';
import type { Station } from './station.ts';

/** A program was started again, with everything in place. */
export type ComeBack = {
  /** From exec until it said that it is ready: it has read all Nodes, and looked at the device. */
  readonly seconds: number;
  /** `wg set`, until the program has settled: what is in place needs none. */
  readonly setCalls: number;
};

const INTERVAL_MS = 20;

/** Watches a program that was just started again. */
export async function comeBack(
  station: Station,
  program: Program,
  { settleSeconds, signal }: { settleSeconds: number; signal: AbortSignal },
): Promise<ComeBack> {
  // Nobody listens at first.
  const isReady = async () => (await station.ask('/readyz').catch(() => '')).startsWith('HTTP/1.1 200');
  const atMs = await pollUntil(isReady, { intervalMs: INTERVAL_MS, signal });
  // What it sets in vain it may set later.
  await delay(settleSeconds * 1000, undefined, { signal });
  return { seconds: (atMs - program.startedAtMs) / 1000, setCalls: (await station.setCalls()).length };
}
