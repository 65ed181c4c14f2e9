import { expect } from 'vitest';
import { it } from '../support/under-faults.ts';

it.for([
  { what: 'Services', path: /\/sys-semaphore\/services\b/ },
  { what: 'slices', path: /\/sys-semaphore\/endpointslices\b/ },
])('lists its own $what again if a write shows that a list lacked them', async ({ path }, { lab }) => {
  const { local } = lab.proxies;
  const scenario = await lab.begin();
  await local.set({ kind: 'empty' }, { target: path });
  // Of all watches, only one must list by itself. A WatchList starts without a version.
  const watch = { verb: 'watch', target: new RegExp(`${path.source}.*[?&]resourceVersion=`) } as const;
  await local.set({ kind: 'answer', status: 410, as: 'event' }, { ...watch, times: 1 });
  await local.set({ kind: 'reset', connections: 'open' });
  const lists = () =>
    local
      .requests()
      .filter(({ target, faults }) => target.includes('sendInitialEvents=true') && faults.includes('empty')).length;
  await scenario.changeUntil(() => lists() >= 2);
  await local.clear();
  expect(await scenario.outcome()).toEqual({ gaps: [], errors: [], healthz: 200 });
});
