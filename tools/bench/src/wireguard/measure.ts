import type { Clusters } from '../load/clusters.ts';
import { usageOf } from '../measure/usage.ts';
import { idle } from '../phases/idle.ts';
import { within } from '../measure/program.ts';
import type { Trial } from '../phases/run.ts';
import { comeBack } from './come-back.ts';
import type { WireGuardBenchOptions } from './options.ts';
import { peerChanges } from './peer-changes.ts';
import type { RemoteNode } from './remote-nodes.ts';
import { scrapes } from './scrapes.ts';
import { setUp } from './set-up.ts';
import type { Station } from './station.ts';

/** Runs the agent through all phases. */
export async function measureWireGuard(
  { clusters, station, nodes }: { clusters: Clusters; station: Station; nodes: readonly RemoteNode[] },
  { result, account, start, say }: Trial,
  { changes, scrapes: count, settleSeconds, idleSeconds }: WireGuardBenchOptions,
): Promise<void> {
  say('setting up the device');
  const first = start();
  result.setUp = await setUp(station, clusters, first, {
    signal: within(first),
    peers: nodes.length,
    account,
    settleSeconds,
  });

  say(`${count} scrapes`);
  result.scrapes = await scrapes(station, first, { signal: within(first), count });

  say(`${changes} changes`);
  result.peerChanges = await peerChanges(station, clusters.remote.api.admin, {
    program: first,
    signal: within(first),
    nodes: nodes.slice(0, changes),
  });

  if (idleSeconds > 0) {
    say(`${idleSeconds} s without changes`);
    result.idle = await idle(first, { signal: within(first), settleSeconds, idleSeconds });
  }
  const { peakMb } = await usageOf(first.pid);

  say('a restart');
  await first.stop();
  await station.setCalls();
  const second = start();
  result.comeBack = await comeBack(station, second, { signal: within(second), settleSeconds });
  result.peakMb = Math.max(peakMb, (await usageOf(second.pid)).peakMb);
}
