import { setTimeout as delay } from 'node:timers/promises';
import { pollUntil } from '../measure/poll.ts';
import type { Program } from '../measure/program.ts';
import type { Station } from './station.ts';

/** A restart of the agent, without changes. */
export type ComeBack = {
  /** From exec until it is ready: it read all Nodes, and the device. */
  readonly seconds: number;
  /** Calls of `wg set` until it settled; the present state needs none. */
  readonly setCalls: number;
};

const INTERVAL_MS = 20;

/** Measures an agent that was just restarted. */
export async function comeBack(
  station: Station,
  program: Program,
  { settleSeconds, signal }: { settleSeconds: number; signal: AbortSignal },
): Promise<ComeBack> {
  // The port isn't open at first.
  const isReady = async () => (await station.ask('/readyz').catch(() => '')).startsWith('HTTP/1.1 200');
  const atMs = await pollUntil(isReady, { intervalMs: INTERVAL_MS, signal });
  // Needless calls may come later.
  await delay(settleSeconds * 1000, undefined, { signal });
  return { seconds: (atMs - program.startedAtMs) / 1000, setCalls: (await station.setCalls()).length };
}
