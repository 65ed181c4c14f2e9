import { eventually } from '@kube-semaphore/eventually';
import type { FaultProxy, SeenRequest } from '@kube-semaphore/fault-proxy';
import { describe, expect } from 'vitest';
import { staying } from '../support/service-changes.ts';
import { it } from '../support/under-faults.ts';

const unharmed = { gaps: [], errors: [], healthz: 200 };

/** Lists everything of a path as empty from now on, and makes each watch list it so many times. */
async function pretendEmpty(proxy: FaultProxy, path: RegExp, times?: number): Promise<void> {
  await proxy.set({ kind: 'empty' }, { target: path });
  // Not for a WatchList, which starts without a version.
  const watches = { verb: 'watch', target: new RegExp(`${path.source}.*[?&]resourceVersion=`) } as const;
  await proxy.set({ kind: 'answer', status: 410, as: 'event' }, { ...watches, ...(times !== undefined && { times }) });
  await proxy.set({ kind: 'reset', connections: 'open' });
}

type Seen = readonly SeenRequest[];

/** Whether it was listed, and a watch continues from there. */
function isBelieved(requests: Seen, path: RegExp): boolean {
  const seen = requests.filter(({ verb, target }) => verb === 'watch' && path.test(target));
  const listed = seen.findLastIndex(
    ({ target, faults }) => target.includes('sendInitialEvents=true') && faults.includes('empty'),
  );
  return (
    listed >= 0 &&
    seen.slice(listed).some(({ target, faults }) => /[?&]resourceVersion=/.test(target) && !faults.includes('answer'))
  );
}

/** The requests after the first create of such an object that reached the API server. */
function sinceWrite(requests: Seen, path: RegExp): Seen {
  const first = requests.findIndex(
    ({ method, target, faults }) =>
      method === 'POST' && path.test(target) && faults.includes('empty') && !faults.includes('answer'),
  );
  return first < 0 ? [] : requests.slice(first);
}

describe('lists that are empty for a moment', () => {
  it('are held if they are of a remote', async ({ lab: { begin, proxies } }) => {
    // Much longer than all four watches need to list nothing; after that, the lists are believed.
    const scenario = await begin({ flags: { 'deletion-guard-min': '0', 'deletion-guard-hold': '20s' } });
    await scenario.change();
    await scenario.settled();
    await pretendEmpty(proxies.remote, /\/(services|endpointslices)\b/);
    const held = () => scenario.program.metric('semaphore_service_mirror_held_deletions', { remote: 'c2' });
    const most = staying
      .filter(({ cluster }) => cluster === 'c2')
      .reduce((sum, { slices }) => sum + 1 + slices.length, 0);
    await scenario.changeUntil(async () => ((await held()) ?? 0) >= most);
    await proxies.remote.clear();
    expect(await scenario.outcome()).toEqual(unharmed);
    await eventually(held, 0);
  });

  it.for([
    { what: 'Services', path: /\/sys-semaphore\/services\b/ },
    { what: 'slices', path: /\/sys-semaphore\/endpointslices\b/ },
  ])('are found to be wrong if they are of our own $what', async ({ path }, { lab: { begin, proxies } }) => {
    const scenario = await begin();
    await scenario.change();
    await scenario.settled();
    // An object whose source is deleted before it is created again causes no write.
    const permitWrites = await proxies.local.set({ kind: 'answer', status: 500 }, { method: 'POST' });
    await pretendEmpty(proxies.local, path, 1);
    await scenario.changeUntil(() => isBelieved(proxies.local.requests(), path));
    await scenario.change();
    await permitWrites();
    // A write shows that the list was wrong; the next list is wrong, too.
    await scenario.changeUntil(() => isBelieved(sinceWrite(proxies.local.requests(), path), path));
    await proxies.local.clear();
    expect(await scenario.outcome()).toEqual(unharmed);
  });
});
