import type { PolicyFlags } from './command-line.ts';
import { itBehindProxies } from './it.ts';
import { PodChanges, staying } from './pod-changes.ts';
import { Trial } from './trial.ts';

/**
 * A test that begins with a policy whose sets are right, and with pods of which some will stay all along. By `seed` the
 * others change.
 */
export const it = itBehindProxies
  .extend('seed', 1)
  .extend('proxies', ({ localProxy, remoteProxy }) => ({ local: localProxy, remote: remoteProxy }))
  .extend('viaProxies', ({ viaLocalProxy, viaRemoteProxy }): PolicyFlags => ({ ...viaLocalProxy, ...viaRemoteProxy }))
  .extend('begin', ({ seed, remote, pods, sets, history, start }) => async (flags?: PolicyFlags) => {
    await pods.add(...staying);
    const policy = await start(flags);
    const trial = new Trial({ policy, remote, changes: new PodChanges({ remote, pods, seed }), sets, history });
    await trial.settled();
    return trial;
  });

/** Both API servers, and what metrics call them. */
export const sides = [
  { side: 'remote', cluster: 'c2' },
  { side: 'local', cluster: 'local' },
] as const;
