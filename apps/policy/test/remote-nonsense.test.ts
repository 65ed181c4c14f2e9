import type { Fault, RequestFilter } from '@kube-semaphore/fault-proxy';
import { describe, expect } from 'vitest';
import { itBehindProxies as it } from './support/it.ts';
import { hasFailed, isUp } from './support/remote-state.ts';

const staying = { name: 'a', app: 'app', ips: ['10.4.0.1'] };
const both = { 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32'] };

describe('a remote that falls silent', () => {
  it('gets a new watch after -watch-idle-timeout', async ({
    remoteProxy,
    viaRemoteProxy,
    pods,
    sets,
    history,
    start,
  }) => {
    await pods.add(staying, { name: 'b', app: 'app', ips: ['10.4.0.2'] });
    const policy = await start({ ...viaRemoteProxy, 'watch-idle-timeout': '1s' });
    await sets.become(both);
    await remoteProxy.set({ kind: 'stall' }, { verb: 'watch' });
    await hasFailed(policy, 'idle', 1);
    // The next one gets no answer at all.
    await hasFailed(policy, 'unreachable', 1);
    await pods.remove('b');
    await remoteProxy.clear();
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await history.caughtUp();
    expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
  });
});

/** Faults; each request gets the first that matches it. */
type Trouble = readonly (readonly [Fault, RequestFilter?])[];

describe('a remote that answers', () => {
  const nonsense: Trouble = [
    [{ kind: 'garbage', body: 'html' }, { every: 3 }],
    [{ kind: 'garbage', body: 'random', seed: 1 }, { every: 2 }],
    [{ kind: 'truncate', after: 19, by: 'clean' }],
  ];
  const errors: Trouble = [[{ kind: 'answer', status: 500 }, { every: 2 }], [{ kind: 'answer', status: 401 }]];

  it.for([
    { name: 'nonsense', trouble: nonsense, reason: 'garbage', times: 2 },
    { name: 'errors', trouble: errors, reason: 'server_error', times: 1 },
  ])(
    'with $name changes nothing, and recovers when it is over',
    async ({ trouble, reason, times }, { remoteProxy, viaRemoteProxy, pods, sets, history, start }) => {
      await pods.add(staying, { name: 'b', app: 'app', ips: ['10.4.0.2'] });
      const policy = await start(viaRemoteProxy);
      await sets.become(both);
      for (const [fault, filter] of trouble) await remoteProxy.set(fault, filter);
      await remoteProxy.set({ kind: 'reset', connections: 'open' });
      await hasFailed(policy, reason, times);
      expect(await isUp(policy)).toBe(0);
      await pods.remove('b');
      await remoteProxy.clear();
      await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
      await history.caughtUp();
      expect(history.deletions()).toEqual([]);
      expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
    },
  );
});
