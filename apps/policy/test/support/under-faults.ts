import { FaultScenario, type Lab } from '@kube-semaphore/testkit';
import type { PolicyFlags } from './command-line.ts';
import { itBehindProxies } from './it.ts';
import { netOf, podChanges, staying, wantedSets } from './pod-changes.ts';
import { prefix } from './remote-state.ts';
import type { SetHistory } from './set-history.ts';
import type { Sets } from './sets.ts';

/** A test with a lab whose policy begins with right sets, and with pods of which some stay all the time. The others change. */
export const it = itBehindProxies
  .extend(
    'begin',
    ({ remote, viaLocalProxy, viaRemoteProxy, pods, sets, history, start }) =>
      async (flags: PolicyFlags = {}) => {
        await pods.add(...staying);
        const program = await start({ ...viaRemoteProxy, ...viaLocalProxy, ...flags });
        const scenario = new FaultScenario({
          program,
          prefix,
          watches: { remote: 1, local: 1 },
          changes: podChanges({ remote, pods, seed: 1 }),
          wanted: () => wantedSets(remote),
          observed: () => sortedSets(sets),
          gaps: () => gapsOf(history),
          tamper: () => sets.patch('c2-default-cart', { spec: { nets: ['10.4.0.3/32', '192.0.2.1/32'] } }),
          served: () => sets.served(),
        });
        await scenario.settled();
        return scenario;
      },
  )
  .extend('lab', ({ clusters, localProxy, remoteProxy, begin }): Lab => ({
    clusters,
    proxies: { local: localProxy, remote: remoteProxy },
    begin,
  }));

/** The sets, their nets sorted, as their order makes no difference. */
async function sortedSets(sets: Sets): Promise<unknown> {
  return (await sets.list()).map((set) => ({ ...set, nets: set.nets.toSorted() }));
}

/** Sets that were deleted, and addresses that were missing, although a pod had them all the time. */
async function gapsOf(history: SetHistory): Promise<readonly string[]> {
  await history.caughtUp();
  return staying.flatMap(({ app, ips }) => [
    ...history.deletions().filter((name) => name === `c2-default-${app}`),
    ...history.gaps(app, ips.map(netOf)),
  ]);
}
