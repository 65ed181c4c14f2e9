import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { itBehindProxies as it } from './support/it.ts';
import type { PolicyProcess } from './support/policy-process.ts';

/** A program that needs more than the documented 5 s ends with 1. */
async function expectCleanExit(policy: PolicyProcess, signal?: NodeJS.Signals): Promise<void> {
  expect(await policy.stop(signal)).toEqual({ code: 0, signal: null });
  expect(policy.log().filter(({ level }) => level === 'error')).toEqual([]);
}

describe('a signal', () => {
  it.for(['SIGTERM', 'SIGINT'] as const)(
    '%s ends the process with 0 while it watches, and the sets stay',
    async (signal, { pods, sets, start }) => {
      await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
      const policy = await start();
      await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
      await expectCleanExit(policy, signal);
      expect(await sets.nets()).toEqual({ 'c2-default-app': ['10.4.0.1/32'] });
    },
  );

  it('ends it while the remote is away', async ({ remoteProxy, viaRemoteProxy, start }) => {
    await remoteProxy.set({ kind: 'refuse' });
    const policy = await start(viaRemoteProxy, { ready: false });
    await policy.logged('watch failed', { cluster: 'c2' });
    await expectCleanExit(policy);
  });

  it('ends it while the local API server is away', async ({ localProxy, viaLocalProxy, start }) => {
    await localProxy.set({ kind: 'refuse' });
    const policy = await start(viaLocalProxy, { ready: false });
    await policy.logged('API groups not listed, retrying');
    await expectCleanExit(policy);
  });

  it('ends it while no request is answered', async ({ remoteProxy, viaRemoteProxy, start }) => {
    await remoteProxy.set({ kind: 'stall' }, { method: 'GET' });
    const policy = await start(viaRemoteProxy, { ready: false });
    await eventually(() => remoteProxy.requests().length > 0, true);
    await expectCleanExit(policy);
  });

  it('ends it in the middle of a write', async ({ localProxy, viaLocalProxy, pods, start }) => {
    await localProxy.set({ kind: 'stall' }, { method: 'POST' });
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    const policy = await start(viaLocalProxy);
    await eventually(() => localProxy.requests().some(({ method }) => method === 'POST'), true);
    await expectCleanExit(policy);
  });
});
