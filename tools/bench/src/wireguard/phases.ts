import { setTimeout as delay } from 'node:timers/promises';
import { type Clusters, requestsTo, send } from '../load/clusters.ts';
import { type Program, within } from '../measure/program.ts';
import { durations } from '../measure/summary.ts';
import { usageAfter, usageOf } from '../measure/usage.ts';
import type { WireGuardOptions } from '../options.ts';
import { idle } from '../phases/race.ts';
import type { Trial } from '../phases/run.ts';
import type { Figures } from '../report/report.ts';
import { announcement, type RemoteNode } from './remote-nodes.ts';
import type { Station } from './station.ts';

/** Pause between two polls of `wg`, which takes as long with 1,000 peers. */
const POLL_MS = 10;

/** A usual interval of Prometheus. */
const SCRAPE_MS = 15_000;

/** Longer than `-min-write-interval`, so that no change waits. */
const REST_MS = 500;

/** Until the agent has noticed the end of `wg`. */
const SETTLE_MS = 50;

/** The part of the changes that meet a periodic comparison, at most: these take the most CPU time. */
const DISTURBED = 0.2;

const PERCENTS = [50, 100];

/** Runs the agent through all phases. */
export async function* phasesOf(
  { clusters, station, nodes }: { clusters: Clusters; station: Station; nodes: readonly RemoteNode[] },
  { account, start, say }: Trial,
  options: WireGuardOptions,
): AsyncGenerator<Figures, void> {
  say('setting up the device');
  const first = start();
  yield setUp(station, clusters, first, { peers: nodes.length, account, settle: options.settle });

  say(`${options.scrapes} scrapes`);
  yield scrapes(station, first, options.scrapes);

  const changed = nodes.slice(0, options.changes);
  say(`${changed.length} changes`);
  yield changes(station, clusters, first, changed);

  if (options.idle > 0) {
    say(`${options.idle} s without changes`);
    yield idle(first, options);
  }
  const { peakMb } = await usageOf(first.pid);

  say('a restart');
  await first.stop();
  await station.setCalls();
  const second = start();
  // The port isn't open at first.
  const isReady = async () => (await station.ask('/readyz').catch(() => undefined))?.status === 200;
  const readyAtMs = await when(isReady, second);
  // Needless calls may come later.
  const { peakMb: laterPeakMb } = await usageAfter(options.settle, second);
  yield {
    'restart: ready after': [(readyAtMs - second.startedAtMs) / 1000, 's'],
    'restart: calls of wg set': [(await station.setCalls()).length],
    'peak memory of all phases': [Math.max(peakMb, laterPeakMb), 'MB'],
  };
}

/** From exec, without a device, until the device has every peer. */
async function setUp(
  station: Station,
  clusters: Clusters,
  program: Program,
  { peers, account, settle }: { peers: number; account: string; settle: number },
): Promise<Figures> {
  const atMs = await when(async () => (await station.endpoints()).size === peers, program);
  const { cpuSeconds, peakMb } = await usageOf(program.pid);
  const { residentMb } = await usageAfter(settle, program);
  // It announces itself in parallel, which may take longer than the peers.
  await when(async () => (await requestsTo([clusters.local], account))['patch'] !== undefined, program);
  return {
    'start: all peers shown by wg after': [(atMs - program.startedAtMs) / 1000, 's'],
    'start: CPU, with that of wg and ip': [cpuSeconds, 's'],
    'start: peak memory': [peakMb, 'MB'],
    'settled memory': [residentMb, 'MB'],
    // Also for the device itself.
    'start: calls of wg set': [(await station.setCalls()).length],
    'requests to the remote cluster': [await requestsTo(clusters.remotes, account)],
    'requests to the local cluster': [await requestsTo([clusters.local], account)],
  };
}

/** Reads the metrics. The times are with the start of the client process. */
async function scrapes(station: Station, program: Program, count: number): Promise<Figures> {
  const times: number[] = [];
  const memory: number[] = [];
  let bytes = 0;
  while (times.length < count) {
    if (times.length > 0) await delay(SCRAPE_MS, undefined, { signal: program.signal });
    const askedAtMs = performance.now();
    bytes = Buffer.byteLength((await station.ask('/metrics')).body);
    times.push(performance.now() - askedAtMs);
    memory.push((await usageOf(program.pid)).residentMb);
  }
  return {
    'scrapes 15 s apart': [count],
    'scrapes: length of an answer': [bytes / 1000, 'kB'],
    ...durations('scrapes: time', times, PERCENTS),
    'scrapes: most memory after one': [Math.max(...memory), 'MB'],
    'scrapes: memory after the last': [memory.at(-1) ?? NaN, 'MB'],
  };
}

/** Changes the endpoints of Nodes of the first remote, one after the other, as their agents would, each until `wg` shows it. */
export async function changes(
  station: Station,
  { remote }: Clusters,
  program: Program,
  nodes: readonly RemoteNode[],
): Promise<Figures> {
  await station.setCalls();
  const fromRequest: number[] = [];
  const fromAnswer: number[] = [];
  const cpuMs: number[] = [];
  for (const { name, publicKey, nextEndpoint } of nodes) {
    const before = await usageAfter(REST_MS / 1000, program);
    const annotations = announcement({ publicKey, endpoint: nextEndpoint });
    const sentAtMs = performance.now();
    await send(remote.api.admin, 'PATCH', `/api/v1/nodes/${name}`, { metadata: { annotations } });
    const answeredAtMs = performance.now();
    const seenAtMs = await when(async () => (await station.endpoints()).get(publicKey) === nextEndpoint, program);
    fromRequest.push(seenAtMs - sentAtMs);
    fromAnswer.push(seenAtMs - answeredAtMs);
    const { cpuSeconds } = await usageAfter(SETTLE_MS / 1000, program);
    cpuMs.push((cpuSeconds - before.cpuSeconds) * 1000);
  }
  const calls = await station.setCalls();
  return {
    ...durations('one change: from the PATCH of a Node to wg', fromRequest, PERCENTS),
    ...durations('one change: from its answer to wg', fromAnswer, PERCENTS),
    'one change: CPU, with that of wg': [undisturbed(cpuMs), 'ms'],
    'one change: calls of wg set': [calls.length / nodes.length],
    'one change: peers in a call': [Math.max(0, ...calls.map((peers) => peers.length))],
  };
}

/** The mean without the largest. The kernel counts in 10 ms, so a median would say little. */
function undisturbed(costs: readonly number[]): number {
  const cheap = costs.toSorted((a, b) => a - b).slice(0, Math.ceil(costs.length * (1 - DISTURBED)));
  return cheap.reduce((sum, cost) => sum + cost, 0) / cheap.length;
}

/** Polls until the state is there. @returns when it was seen, by `performance.now()`: late by one poll and one pause at most */
export async function when(isThere: () => Promise<boolean>, program: Program): Promise<number> {
  const signal = within(program);
  while (!(await isThere())) await delay(POLL_MS, undefined, { signal });
  return performance.now();
}
