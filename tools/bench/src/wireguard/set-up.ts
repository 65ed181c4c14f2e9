import { setTimeout as delay } from 'node:timers/promises';
import type { Clusters } from '../load/clusters.ts';
import { pollUntil } from '../measure/poll.ts';
import type { Program } from '../measure/program.ts';
import { usageOf } from '../measure/usage.ts';
import { type Requests, requestsOf } from '../phases/requests-of.ts';
import type { Station } from './station.ts';

/** From exec, without a device, until the device has every peer. */
export type SetUp = {
  readonly seconds: number;
  /** CPU time until then. */
  readonly cpuSeconds: number;
  readonly peakMb: number;
  /** Memory after some idle seconds, before the first scrape. */
  readonly settledMb: number;
  /** Calls of `wg set`, also for the device itself. */
  readonly setCalls: number;
  readonly requests: Requests;
};

const INTERVAL_MS = 20;

/** Measures an agent that was just started. */
export async function setUp(
  station: Station,
  clusters: Clusters,
  program: Program,
  options: { peers: number; account: string; settleSeconds: number; signal: AbortSignal },
): Promise<SetUp> {
  const { peers, account, settleSeconds, signal } = options;
  const atMs = await pollUntil(async () => (await station.endpoints()).size === peers, {
    intervalMs: INTERVAL_MS,
    signal,
  });
  const { cpuSeconds, peakMb } = await usageOf(program.pid);
  await delay(settleSeconds * 1000, undefined, { signal });
  const { residentMb: settledMb } = await usageOf(program.pid);
  // It announces itself in parallel, which may take longer than the peers.
  await pollUntil(async () => (await requestsOf(clusters, account)).local['patch'] !== undefined, {
    intervalMs: INTERVAL_MS,
    signal,
  });
  return {
    seconds: (atMs - program.startedAtMs) / 1000,
    cpuSeconds,
    peakMb,
    settledMb,
    setCalls: (await station.setCalls()).length,
    requests: await requestsOf(clusters, account),
  };
}
