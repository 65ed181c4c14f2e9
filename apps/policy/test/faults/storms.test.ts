import type { Fault, FaultProxy, RequestFilter } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { isUp, restartsOf } from '../support/remote-state.ts';
import { it, sides } from '../support/under-faults.ts';

/** Requests that a fault struck. */
const struck = (proxy: FaultProxy) => proxy.requests().filter(({ faults }) => faults.length > 0);

type Storm = { readonly name: string; readonly fault: Fault; readonly filter?: RequestFilter; readonly reason: string };

const storms: readonly Storm[] = [
  { name: '410 to every watch', fault: { kind: 'answer', status: 410, as: 'event' }, filter: { verb: 'watch' }, reason: 'expired' },
  { name: '410 to everything', fault: { kind: 'answer', status: 410 }, reason: 'expired' },
  { name: '429 with Retry-After', fault: { kind: 'answer', status: 429, retryAfterSeconds: 1 }, reason: 'throttled' },
  { name: '500', fault: { kind: 'answer', status: 500 }, reason: 'server_error' },
  { name: '500 to every second request', fault: { kind: 'answer', status: 500 }, filter: { every: 2 }, reason: 'server_error' },
];

describe('a storm', () => {
  it.for(storms)('of $name costs nothing but time, on either side', async (storm, { begin, viaProxies, proxies }) => {
    const { fault, filter, reason } = storm;
    const trial = await begin(viaProxies);
    // One after the other: what the remote's storm did to the sets would be undone before the local one lets it be seen.
    for (const { side, cluster } of sides) {
      await proxies[side].set(fault, filter);
      // What is open would last through the storm otherwise, and what was let through as well.
      await proxies[side].set({ kind: 'cut', everyMs: 500, by: 'reset' }, { verb: 'watch' });
      await trial.changePodsUntil(async () => (await restartsOf(trial.policy, reason, cluster)) >= 3);
      await proxies[side].clear();
      await trial.survived();
    }
  });
});

/** All that changes a set. */
const writes: readonly RequestFilter[] = [{ method: 'POST' }, { method: 'PUT' }, { method: 'DELETE' }];

async function setOnWrites(proxy: FaultProxy, fault: Fault): Promise<void> {
  for (const filter of writes) await proxy.set(fault, filter);
}

const STRUCK = 6;

describe('local writes that are all', () => {
  it.for<{ name: string; fault: Fault }>([
    { name: 'answered 500', fault: { kind: 'answer', status: 500 } },
    { name: 'answered 429', fault: { kind: 'answer', status: 429, retryAfterSeconds: 1 } },
    { name: 'reset before they arrive', fault: { kind: 'reset', connections: 'new' } },
  ])('$name are tried again, and complained about once', async ({ fault }, { begin, viaLocalProxy, localProxy }) => {
    const trial = await begin(viaLocalProxy);
    await setOnWrites(localProxy, fault);
    await trial.changePodsUntil(() => struck(localProxy).length >= STRUCK);
    const complaints = trial.policy.log().filter(({ level }) => level === 'warn');
    expect(complaints.map(({ msg }) => msg)).toEqual(['set not written, will try again']);
    expect(await isUp(trial.policy, 'local')).toBe(0);
    await localProxy.clear();
    await trial.survived();
    await trial.policy.logged('local writes work again');
  });

  it('carried out, with an answer that breaks off, make the sets right all the same', async ({ begin, viaLocalProxy, localProxy }) => {
    const trial = await begin(viaLocalProxy);
    await setOnWrites(localProxy, { kind: 'truncate', after: 0, by: 'reset' });
    await trial.changePodsUntil(() => struck(localProxy).length >= STRUCK);
    await trial.settled();
    await localProxy.clear();
    await trial.survived();
  });

  it('refused by 429 are tried again no sooner than it says', async ({ begin, viaLocalProxy, localProxy }) => {
    const trial = await begin(viaLocalProxy);
    await setOnWrites(localProxy, { kind: 'answer', status: 429, retryAfterSeconds: 1 });
    await trial.changePodsUntil(() => struck(localProxy).length >= STRUCK);
    const updates = struck(localProxy).filter(({ method }) => method === 'PUT');
    const bySet = [...Map.groupBy(updates, ({ target }) => target).values()];
    const pausesMs = bySet.flatMap((tries) => tries.slice(1).map(({ at }, index) => at - tries[index]!.at));
    expect(pausesMs.length).toBeGreaterThan(0);
    // A timer may go off a millisecond early.
    expect(Math.min(...pausesMs)).toBeGreaterThanOrEqual(999);
    await localProxy.clear();
    await trial.survived();
  });

  it('refused by 409 are decided anew, which is no trouble', async ({ begin, viaLocalProxy, localProxy }) => {
    const trial = await begin({ ...viaLocalProxy, 'log-level': 'debug' });
    await setOnWrites(localProxy, { kind: 'answer', status: 409 });
    await trial.changePodsUntil(() => struck(localProxy).length >= STRUCK);
    await localProxy.clear();
    await trial.survived();
    await trial.policy.logged('set not written, will try again', { level: 'debug' });
    expect(trial.policy.log().filter(({ level }) => level === 'warn')).toEqual([]);
  });
});
