import { FaultScenario, type Lab, type ScenarioStart } from '@kube-semaphore/testkit';
import { localRules, remoteRules } from './accounts.ts';
import { itBehindProxies, itBehindProxiesOfItsOwn } from './it.ts';
import { netOf, podChanges, staying, wantedSets } from './pod-changes.ts';
import { prefix } from './remote-state.ts';
import type { SetHistory } from './set-history.ts';
import type { Sets } from './sets.ts';

const underFaults = (base: typeof itBehindProxies) =>
  base
    .extend('seed', 1)
    .extend(
      'begin',
      ({ seed, accounts, remote, localProxy, remoteProxy, pods, sets, history, start }) =>
        async ({ kubeconfigs = {}, flags }: ScenarioStart = {}) => {
          await pods.add(...staying);
          const program = await start({
            'target-kube-config': kubeconfigs.remote ?? (await remoteProxy.kubeconfig(accounts.remote)),
            'local-kube-config': kubeconfigs.local ?? (await localProxy.kubeconfig(accounts.local)),
            ...flags,
          });
          const scenario = new FaultScenario({
            program,
            prefix,
            watches: { remote: 1, local: 1 },
            changes: podChanges({ remote, pods, seed }),
            wanted: () => wantedSets(remote),
            observed: () => sortedSets(sets),
            lapses: () => gapsOf(history),
            tamper: () => sets.patch('c2-default-cart', { spec: { nets: ['10.4.0.3/32', '192.0.2.1/32'] } }),
            served: () => sets.served(),
          });
          await scenario.settled();
          return scenario;
        },
    )
    .extend('lab', ({ clusters, accounts, localProxy, remoteProxy, begin }): Lab => ({
      clusters,
      proxies: { local: localProxy, remote: remoteProxy },
      direct: { local: accounts.local.kubeconfig, remote: accounts.remote.kubeconfig },
      rules: { local: localRules, remote: remoteRules },
      begin,
    }));

/**
 * A test with a lab whose policy begins with right sets, and with pods of which some stay all the time. The others change by
 * `seed`.
 */
export const it = underFaults(itBehindProxies);

/** The same with clusters of its own, at the same time as others of its file. */
export const itConcurrently = underFaults(itBehindProxiesOfItsOwn).concurrent;

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
