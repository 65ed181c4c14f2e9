import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '@kube-semaphore/cluster-auth';
import { KubeClient } from '@kube-semaphore/kube-client';
import { podKind } from '@kube-semaphore/kube-objects';
import {
  createPod, deletePod, Dice, type Fault, faultKinds, type FaultProxy, faultSeed, play, pod, randomSchedule, type RequestFilter,
  startCluster, startFaultProxy, type TestAccount, type TestCluster, waitFor,
} from '@kube-semaphore/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Reflector, Store } from '../src/index.ts';
import { connectTo, reflectPods, type Seen } from './reflect-pods.ts';

const STAYING = ['stays-0', 'stays-1', 'stays-2'];
/** How long a random schedule goes on. */
const RANDOM_MS = 12_000;

let cluster: TestCluster;
let account: TestAccount;
let proxy: FaultProxy;
let connection: Connection;

beforeAll(async () => {
  cluster = await startCluster({ name: 'c2' });
  account = await cluster.account('reflector', [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }]);
  await Promise.all(STAYING.map((name) => create(name, '10.0.0.1')));
});

afterAll(() => cluster.stop());

beforeEach(async () => {
  proxy = await startFaultProxy(cluster);
  connection = await connectTo(await proxy.kubeconfig(account));
});

afterEach(async () => {
  connection.close();
  await proxy.stop();
  const pods = await cluster.admin.list('/api/v1/pods');
  await Promise.all(pods.map(({ metadata: { name } }) => (STAYING.includes(name) ? setAddress(name, '10.0.0.1') : remove(name))));
});

const create = (name: string, ...ips: string[]) => createPod(cluster.admin, pod({ name, ips }));
const remove = (name: string) => deletePod(cluster.admin, { name });
const setAddress = (name: string, ip: string) =>
  cluster.admin.request('PATCH', `/api/v1/namespaces/default/pods/${name}/status`, { status: { podIP: ip, podIPs: [{ ip }] } });

type Reflected = ReturnType<typeof reflectPods>;

/** What the cluster holds, by key, as a reflector should. */
async function truth(): Promise<Record<string, Seen>> {
  const pods = await cluster.admin.list('/api/v1/pods');
  return Object.fromEntries(
    pods.map(({ metadata: { namespace, name, uid }, status }) => {
      const { podIPs = [] } = status as { podIPs?: { ip: string }[] };
      return [`${namespace}/${name}`, { uid: uid!, ips: podIPs.map(({ ip }) => ip) }];
    }),
  );
}

const held = ({ store: { view } }: Reflected): Record<string, Seen> => (view.synced ? Object.fromEntries(view.objects) : {});

const isSynced = ({ store }: Reflected) => waitFor('the first list', () => store.view.synced || undefined);

/** Waits until the store equals the cluster, and makes sure that on the way there it lost nothing that was there all along. */
async function expectIntact(reflected: Reflected, staying: readonly string[] = STAYING): Promise<void> {
  const want = await truth();
  await waitFor('a store that equals the cluster', () => {
    try {
      expect(held(reflected)).toEqual(want);
      return true;
    } catch {
      return undefined;
    }
  }, { timeoutMs: 20_000 }).catch(() => expect(held(reflected)).toEqual(want));
  const lost = reflected.changes.filter(({ key, current }) => current === undefined && staying.includes(key.split('/')[1]!));
  expect(lost).toEqual([]);
}

/** Creates, changes and removes pods at random, but for those that stay: these only change. */
async function change(dice: Dice, signal: AbortSignal): Promise<void> {
  const present = new Set<string>();
  while (!signal.aborted) {
    const name = dice.pick([...STAYING, ...Array.from({ length: 20 }, (_, index) => `pod-${index}`)]);
    const ip = `10.0.${dice.integer(1, 9)}.${dice.integer(1, 254)}`;
    const removed = dice.pick([true, false]) && present.delete(name);
    if (removed) await remove(name);
    else if (present.has(name) || STAYING.includes(name)) await setAddress(name, ip);
    else await create(name, ip).then(() => present.add(name));
    await delay(dice.integer(0, 20));
  }
}

type Trouble = { readonly name: string; readonly fault: Fault; readonly filter?: RequestFilter };

const troubles: readonly Trouble[] = [
  { name: 'a port that is closed', fault: { kind: 'refuse' } },
  { name: 'connections that are reset', fault: { kind: 'reset', connections: 'all' } },
  { name: 'a partition of the network', fault: { kind: 'stall' } },
  { name: 'watches that go silent', fault: { kind: 'stall' }, filter: { verb: 'watch' } },
  { name: 'answers that are cut in an event', fault: { kind: 'truncate', after: 'mid-event', by: 'clean' } },
  { name: 'answers that break off early', fault: { kind: 'truncate', after: 300, by: 'reset' } },
  { name: 'a slow server', fault: { kind: 'delay', requestMs: 200, chunkMs: 100 } },
  ...[401, 403, 410, 429, 500, 503].map((status) => ({ name: `${status}`, fault: { kind: 'answer', status } as const })),
  { name: '429 with Retry-After', fault: { kind: 'answer', status: 429, retryAfterSeconds: 1 } },
  { name: '410 as an event', fault: { kind: 'answer', status: 410, as: 'event' }, filter: { verb: 'watch' } },
  { name: '500 to every second request', fault: { kind: 'answer', status: 500 }, filter: { every: 2 } },
  { name: 'random bytes', fault: { kind: 'garbage', body: 'random' } },
  { name: 'a captive portal', fault: { kind: 'garbage', body: 'html' } },
  { name: 'a frame of 4 GiB', fault: { kind: 'garbage', body: 'huge' } },
  { name: 'a body without end', fault: { kind: 'garbage', body: 'endless' } },
  { name: 'watches that are cut', fault: { kind: 'cut', everyMs: 50, by: 'close' }, filter: { verb: 'watch' } },
  { name: 'a redirect', fault: { kind: 'redirect', to: 'https://127.0.0.1:1' } },
];

describe.each([{ watchList: 'auto' }, { watchList: 'never' }] as const)('a reflector with WatchList: $watchList', ({ watchList }) => {
  it.each(troubles)('survives $name', async ({ fault, filter }) => {
    await create('goes', '10.0.0.2');
    const reflected = reflectPods(connection, { watchList });
    await isSynced(reflected);
    const [requests, restarts] = [proxy.requests().length, reflected.restarts.length];
    await proxy.set(fault, filter);
    // Most faults are for requests to come.
    await proxy.set({ kind: 'reset', connections: 'open' });
    await Promise.all([create('comes', '10.0.0.3'), remove('goes'), setAddress('stays-0', '10.0.1.0')]);
    await waitFor('a fault that was felt twice', () => {
      const struck = proxy.requests().slice(requests).filter(({ faults }) => faults.includes(fault.kind)).length;
      return Math.max(struck, reflected.restarts.length - restarts) >= 2 || undefined;
    });
    await proxy.clear();
    await expectIntact(reflected);
    await reflected.stop();
  });

  it(`survives a random schedule of faults and changes`, async () => {
    const seed = faultSeed();
    const reflected = reflectPods(connection, { watchList });
    await isSynced(reflected);
    const signal = AbortSignal.timeout(RANDOM_MS / 2);
    const schedule = randomSchedule(seed, { kinds: faultKinds.filter((kind) => kind !== 'empty'), longestMs: 400 });
    const [steps] = await Promise.all([play(proxy, schedule, { signal }), change(new Dice(seed), signal)]);
    await expectIntact(reflected).catch((cause: unknown) => {
      throw new Error(`after ${JSON.stringify(steps)}`, { cause });
    });
    await reflected.stop();
  });
});

/** A reflector as in production, except that its pauses take no time: they are written down. */
function hurriedReflector(at: Connection) {
  const pausesMs: number[] = [];
  const requests: string[] = [];
  const aborter = new AbortController();
  const reflector = new Reflector({
    client: new KubeClient({ connection: at, userAgent: 'test', onRequest: ({ verb }) => requests.push(verb) }),
    kind: podKind,
    watchList: 'auto',
    project: ({ metadata }) => ({ uid: metadata.uid }),
    store: new Store<{ uid: string }>({ equal: () => true, onChange: () => {} }),
    idleTimeoutMs: 90_000,
    pollIntervalMs: 60_000,
    random: () => 0.5,
    sleep: async (ms) => void pausesMs.push(ms),
  });
  const done = reflector.run({ signal: aborter.signal });
  return { pausesMs, requests, stop: () => (aborter.abort(), done) };
}

describe('a reflector does not spin', () => {
  it.each<Trouble & { leastSeconds: number }>([
    { name: 'a port that is closed', fault: { kind: 'refuse' }, leastSeconds: 60 },
    { name: 'connections that are reset', fault: { kind: 'reset', connections: 'new' }, leastSeconds: 60 },
    ...[401, 403, 410, 422, 429, 500, 503].map((status) => ({
      name: `${status}`, fault: { kind: 'answer', status } as const, leastSeconds: 60,
    })),
    { name: 'watches that expire at once', fault: { kind: 'answer', status: 410, as: 'event' }, filter: { verb: 'watch' }, leastSeconds: 1 },
    { name: '500 to watches', fault: { kind: 'answer', status: 500 }, filter: { verb: 'watch' }, leastSeconds: 60 },
    { name: 'random bytes', fault: { kind: 'garbage', body: 'random' }, leastSeconds: 6 },
    { name: 'a captive portal', fault: { kind: 'garbage', body: 'html' }, leastSeconds: 6 },
    { name: 'watches without an event', fault: { kind: 'truncate', after: 0, by: 'close' }, filter: { verb: 'watch' }, leastSeconds: 6 },
    { name: 'a redirect', fault: { kind: 'redirect', to: 'https://127.0.0.1:1' }, leastSeconds: 60 },
  ])('on $name', async ({ name, fault, filter, leastSeconds }) => {
    await proxy.set(fault, filter);
    const { pausesMs, requests, stop } = hurriedReflector(connection);
    await waitFor('12 attempts', () => pausesMs.length >= 12 || undefined);
    await stop();
    const attempts = pausesMs.slice(0, 12);
    console.log(name, requests.length, pausesMs.length, attempts.reduce((a,b)=>a+b)/1000, attempts);
    expect(attempts.reduce((sum, ms) => sum + ms) / 1000).toBeGreaterThan(leastSeconds);
    expect(requests.length).toBeLessThanOrEqual(3 * (pausesMs.length + 1));
  });

  it.each<Trouble>([
    { name: '429', fault: { kind: 'answer', status: 429, retryAfterSeconds: 1 } },
    { name: '503', fault: { kind: 'answer', status: 503, retryAfterSeconds: 1 } },
    { name: 'an event with 429', fault: { kind: 'answer', status: 429, retryAfterSeconds: 1, as: 'event' }, filter: { verb: 'watch' } },
  ])('and stays away as long as $name asks it to', async ({ fault, filter }) => {
    await proxy.set(fault, filter);
    const reflected = reflectPods(connection);
    const struck = () => proxy.requests().filter(({ faults }) => faults.length > 0);
    await waitFor('three attempts', () => struck().length >= 3 || undefined);
    await reflected.stop();
    const [first, second, third] = struck().map(({ at }) => at) as [number, number, number];
    for (const pause of [second - first, third - second]) expect(pause).toBeGreaterThanOrEqual(990);
  });
});

it('leaves no socket and no timer behind, whatever it was waiting for', async () => {
  const resources = () => process.getActiveResourcesInfo().filter((kind) => /Timeout|TCP|TLS/.test(kind)).toSorted();
  await proxy.stop();
  const before = resources();
  for (const { fault, filter } of [{ fault: undefined, filter: undefined }, ...troubles]) {
    proxy = await startFaultProxy(cluster);
    connection = await connectTo(await proxy.kubeconfig(account));
    const reflected = reflectPods(connection);
    await isSynced(reflected);
    if (fault) await proxy.set(fault, filter);
    const seen = reflected.restarts.length;
    if (fault) await waitFor('a restart', () => reflected.restarts.length > seen || undefined);
    await reflected.stop();
    connection.close();
    await proxy.stop();
  }
  await waitFor('nothing', () => resources().length <= before.length || undefined).catch(() => {});
  expect(resources()).toEqual(before);
});
