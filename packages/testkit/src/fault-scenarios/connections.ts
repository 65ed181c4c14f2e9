import { eventually } from '@kube-semaphore/eventually';
import type { Fault } from '@kube-semaphore/fault-proxy';
import { type Lab, useUpVersions } from './lab.ts';
import type { Side } from './sides.ts';

/** By which a silent watch is found soon. */
const soon = { 'watch-idle-timeout': '1s' };

/**
 * Connections that are half open are given up.
 *
 * @param held what becomes of what was on its way: it is lost, or it arrives late
 */
export async function halfOpen(
  { begin, proxies }: Lab,
  stalled: readonly Side[],
  held: 'lost' | 'late',
): Promise<void> {
  const scenario = await begin({ flags: soon });
  await Promise.all(stalled.map((side) => proxies[side].set({ kind: 'stall' })));
  await Promise.all(stalled.map((side) => scenario.changeUntilReopened(side)));
  if (held === 'lost')
    await Promise.all(stalled.map((side) => proxies[side].set({ kind: 'reset', connections: 'open' })));
  await Promise.all(stalled.map((side) => proxies[side].clear()));
  await scenario.survived();
}

/** What somebody does to a local object behind watches that are half open is seen when they are given up. */
export async function hiddenEdit({ begin, proxies }: Lab): Promise<void> {
  const scenario = await begin({ flags: soon });
  await proxies.local.set({ kind: 'stall' }, { verb: 'watch' });
  await scenario.tamper();
  await scenario.changeUntilReopened('local');
  await proxies.local.clear();
  await scenario.survived();
}

/** API servers restart while there are changes, twice. */
export async function restarts({ clusters, direct, begin }: Lab, restarted: readonly Side[]): Promise<void> {
  const scenario = await begin({ kubeconfigs: direct });
  // A kube-apiserver that is killed may end its watches in peace, or say 429 when it is back.
  const noticed = () => Promise.all(restarted.map((side) => scenario.restarts(side)));
  for (let count = 1; count <= 2; count += 1) {
    // Both sides are being watched: between two watches nobody notices a restart.
    await scenario.tamper();
    await scenario.change();
    await scenario.settled();
    const before = await noticed();
    // A server that starts again remembers nothing from before: the last version that the program saw is too old now.
    await Promise.all(restarted.map((side) => useUpVersions(clusters[side], 1)));
    await scenario.changeDuring(Promise.all(restarted.map((side) => clusters[side].restart())));
    await scenario.served();
    await scenario.settled();
    await eventually(async () => (await noticed()).every((times, index) => times > before[index]!), true);
    await scenario.bothUp();
  }
  await scenario.survived();
}

const everySecond: Fault = { kind: 'cut', everyMs: 1_000, by: 'reset' };
const watches = { verb: 'watch' } as const;

/**
 * All watches are cut every second, so long or until they were cut often enough, and hold no change back for more than a
 * moment. A machine that does much else may take twice as long; a program that waits ever longer isn't through by then.
 */
export async function watchCuts({ begin, proxies }: Lab, { lastsMs }: { readonly lastsMs: number }): Promise<void> {
  const scenario = await begin();
  await Promise.all([proxies.remote.set(everySecond, watches), proxies.local.set(everySecond, watches)]);
  const began = performance.now();
  const tookMs = () => performance.now() - began;
  const fewest = lastsMs / 6_000;
  // A watch lives for a second at most, and the pause after it takes two.
  const wereCut = (side: Side) => scenario.restarted(side, { reason: 'unreachable', times: lastsMs / 3_000 });
  for (
    let rounds = 0;
    tookMs() < lastsMs || rounds < fewest || !(await wereCut('remote')) || !(await wereCut('local'));
    rounds += 1
  ) {
    if (tookMs() > 2 * lastsMs) {
      const cuts = await Promise.all([
        scenario.restarts('remote', 'unreachable'),
        scenario.restarts('local', 'unreachable'),
      ]);
      throw new Error(
        `within ${2 * lastsMs} ms everything was right only ${rounds} times, and watches were cut ${cuts.join(' and ')} times`,
      );
    }
    await scenario.change();
    // Not only in the end.
    await scenario.settled();
  }
  await Promise.all([proxies.remote.clear(), proxies.local.clear()]);
  await scenario.survived();
}
