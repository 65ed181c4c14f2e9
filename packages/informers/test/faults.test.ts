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

/** Pods that are there all along, and whose address changes now and then. */
const STAYING = ['stays-0', 'stays-1', 'stays-2'];
const RANDOM_MS = 7_000;

let cluster: TestCluster;
let account: TestAccount;
let proxy: FaultProxy;
let connection: Connection;

beforeAll(async () => {
  cluster = await startCluster({ name: 'c2' });
  account = await cluster.account('reflector', [{ apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] }]);
  await Promise.all(STAYING.map((name) => create(name, '10.0.0.1')));
});

afterAll(() => cluster.stop());

beforeEach(() => connectThroughProxy());

afterEach(async () => {
  await disconnect();
  const pods = await cluster.admin.list('/api/v1/pods');
  await Promise.all(pods.map(({ metadata: { name } }) => (STAYING.includes(name) ? setAddress(name, '10.0.0.1') : remove(name))));
});

async function connectThroughProxy(): Promise<void> {
  proxy = await startFaultProxy(cluster);
  connection = await connectTo(await proxy.kubeconfig(account));
}

async function disconnect(): Promise<void> {
  connection.close();
  await proxy.stop();
}

const create = (name: string, ip: string) => createPod(cluster.admin, pod({ name, ips: [ip] }));
const remove = (name: string) => deletePod(cluster.admin, { name });
const setAddress = (name: string, ip: string) =>
  cluster.admin.request('PATCH', `/api/v1/namespaces/default/pods/${name}/status`, { status: { podIP: ip, podIPs: [{ ip }] } });

/** Creates, changes and removes pods at random; those that stay only change. */
async function changePods(dice: Dice, signal: AbortSignal): Promise<void> {
  const names = [...STAYING, ...Array.from({ length: 20 }, (_, index) => `pod-${index}`)];
  const present = new Set(STAYING);
  while (!signal.aborted) {
    const name = dice.pick(names);
    const ip = `10.0.${dice.integer(1, 9)}.${dice.integer(1, 254)}`;
    const goes = dice.pick([true, false]) && !STAYING.includes(name);
    if (goes && present.delete(name)) await remove(name);
    else if (present.has(name)) await setAddress(name, ip);
    else await create(name, ip).then(() => present.add(name));
    await delay(dice.integer(0, 20));
  }
}

type Reflected = ReturnType<typeof reflectPods>;

const isSynced = ({ store }: Reflected) => waitFor('the first list', () => store.view.synced || undefined);

/** What a store should hold, as the cluster itself says. */
async function truth(): Promise<Map<string, Seen>> {
  const pods = await cluster.admin.list('/api/v1/pods');
  return new Map(
    pods.map(({ metadata: { namespace, name, uid = '' }, status }) => {
      const { podIPs = [] } = status as { podIPs?: { ip: string }[] };
      return [`${namespace}/${name}`, { uid, ips: podIPs.map(({ ip }) => ip) }];
    }),
  );
}

/** Waits until the store equals the cluster, and looks back: it must never have lost what was there all along. */
async function expectIntact({ store, changes }: Reflected): Promise<void> {
  const want = await truth();
  await expect.poll(() => store.view, { timeout: 20_000, interval: 25 }).toEqual({ synced: true, objects: want });
  expect(changes.filter(({ key, current }) => current === undefined && key.startsWith('default/stays-'))).toEqual([]);
}

/** Waits until the reflector met trouble, twice from now on. */
async function isFelt({ restarts }: Reflected, { fault: { kind } }: Trouble): Promise<void> {
  const struck = () => proxy.requests().filter(({ faults }) => faults.includes(kind)).length;
  const [before, restartsBefore] = [struck(), restarts.length];
  await waitFor('trouble', () => Math.max(struck() - before, restarts.length - restartsBefore) >= 2 || undefined);
}

type Trouble = { readonly name: string; readonly fault: Fault; readonly filter?: RequestFilter };

const answer = (status: number): Trouble => ({ name: String(status), fault: { kind: 'answer', status } });
const closedPort: Trouble = { name: 'a closed port', fault: { kind: 'refuse' } };
const partition: Trouble = { name: 'a partition of the network', fault: { kind: 'stall' } };
const frozenWatches: Trouble = { name: 'watches that freeze', fault: { kind: 'stall' }, filter: { verb: 'watch' } };
const randomBytes: Trouble = { name: 'random bytes', fault: { kind: 'garbage', body: 'random' } };
const captivePortal: Trouble = { name: 'a captive portal', fault: { kind: 'garbage', body: 'html' } };
const hugeFrame: Trouble = { name: 'a frame of 4 GiB', fault: { kind: 'garbage', body: 'huge' } };
const endlessBody: Trouble = { name: 'a body without end', fault: { kind: 'garbage', body: 'endless' } };
const redirect: Trouble = { name: 'a redirect', fault: { kind: 'redirect', to: 'https://127.0.0.1:1' } };
const retryLater: Trouble = { name: '429 with Retry-After', fault: { kind: 'answer', status: 429, retryAfterSeconds: 1 } };
const expiredWatches: Trouble = { name: 'watches that expire', fault: { kind: 'answer', status: 410, as: 'event' }, filter: { verb: 'watch' } };

const troubles: readonly Trouble[] = [
  closedPort,
  { name: 'connections that are reset', fault: { kind: 'reset', connections: 'all' } },
  partition,
  frozenWatches,
  { name: 'answers that end in the middle of an event', fault: { kind: 'truncate', after: 'mid-event', by: 'clean' } },
  { name: 'watches that end in peace at once', fault: { kind: 'truncate', after: 0, by: 'clean' }, filter: { verb: 'watch' } },
  { name: 'answers that break off early', fault: { kind: 'truncate', after: 300, by: 'reset' } },
  { name: 'a slow server', fault: { kind: 'delay', requestMs: 200, chunkMs: 100 } },
  ...[401, 403, 410, 429, 500, 503].map(answer),
  { name: '500 to every second request', fault: { kind: 'answer', status: 500 }, filter: { every: 2 } },
  expiredWatches,
  randomBytes,
  captivePortal,
  hugeFrame,
  endlessBody,
  { name: 'watches that are cut all the time', fault: { kind: 'cut', everyMs: 50, by: 'close' }, filter: { verb: 'watch' } },
  redirect,
];

/** Makes trouble for requests to come, and ends the watch that is open, as it would hardly notice otherwise. */
async function bring({ fault, filter }: Trouble): Promise<void> {
  await proxy.set(fault, filter);
  await proxy.set({ kind: 'reset', connections: 'open' });
}

describe.each([{ watchList: 'auto' }, { watchList: 'never' }] as const)('a reflector with WatchList: $watchList', ({ watchList }) => {
  it.each(troubles)('survives $name', async (trouble) => {
    await create('goes', '10.0.0.2');
    const reflected = reflectPods(connection, { watchList, requestIdleMs: 500 });
    await isSynced(reflected);
    await bring(trouble);
    await Promise.all([create('comes', '10.0.0.3'), remove('goes'), setAddress('stays-0', '10.0.1.0')]);
    await isFelt(reflected, trouble);
    // So far it went on with its watch, as long as it could.
    reflected.reflector.relist();
    await isFelt(reflected, trouble);
    await proxy.clear();
    await expectIntact(reflected);
    await reflected.stop();
  });

  it('survives faults and changes at random', async () => {
    const seed = faultSeed();
    const reflected = reflectPods(connection, { watchList, requestIdleMs: 500 });
    await isSynced(reflected);
    const signal = AbortSignal.timeout(RANDOM_MS);
    const schedule = randomSchedule(seed, { kinds: faultKinds.filter((kind) => kind !== 'empty'), longestMs: 400 });
    const [steps] = await Promise.all([play(proxy, schedule, { signal }), changePods(new Dice(seed), signal)]);
    await expectIntact(reflected).catch((cause: unknown) => {
      throw new Error(`after ${JSON.stringify(steps)}`, { cause });
    });
    await reflected.stop();
  });
});

/** A reflector as in production, but that its pauses take no time: they are written down. */
function hurriedReflector() {
  const pausesMs: number[] = [];
  const requests: string[] = [];
  const aborter = new AbortController();
  const reflector = new Reflector({
    client: new KubeClient({ connection, userAgent: 'test', onRequest: ({ verb }) => requests.push(verb) }),
    kind: podKind,
    watchList: 'auto',
    project: ({ metadata: { uid } }) => ({ uid }),
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
  const ATTEMPTS = 12;

  it.each<Trouble & { leastSeconds: number }>([
    ...[closedPort, ...[401, 403, 410, 422, 429, 500, 503].map(answer), redirect].map((trouble) => ({ ...trouble, leastSeconds: 60 })),
    { name: 'connections that are reset', fault: { kind: 'reset', connections: 'new' }, leastSeconds: 60 },
    { name: '500 to watches', fault: { kind: 'answer', status: 500 }, filter: { verb: 'watch' }, leastSeconds: 60 },
    // A watch that the server accepts is begun again soon, as one that merely breaks off should be.
    ...[expiredWatches, randomBytes, captivePortal].map((trouble) => ({ ...trouble, leastSeconds: 10 })),
    { name: 'watches that end at once', fault: { kind: 'truncate', after: 0, by: 'close' }, filter: { verb: 'watch' }, leastSeconds: 10 },
  ])(`on $name: ${ATTEMPTS} attempts take at least $leastSeconds s`, async ({ leastSeconds, ...trouble }) => {
    await bring(trouble);
    const { pausesMs, requests, stop } = hurriedReflector();
    await waitFor(`${ATTEMPTS} attempts`, () => pausesMs.length >= ATTEMPTS || undefined);
    await stop();
    const seconds = pausesMs.slice(0, ATTEMPTS).reduce((sum, ms) => sum + ms) / 1000;
    expect(seconds).toBeGreaterThan(leastSeconds);
    // What is known of the history, a WatchList, and pages instead.
    expect(requests.length).toBeLessThanOrEqual(3 * (pausesMs.length + 1));
  });

  it.each<Trouble>([
    retryLater,
    { name: '503 with Retry-After', fault: { kind: 'answer', status: 503, retryAfterSeconds: 1 } },
    {
      name: 'an event that has one', fault: { kind: 'answer', status: 429, retryAfterSeconds: 1, as: 'event' }, filter: { verb: 'watch' },
    },
  ])('and stays away as long as it is asked to by $name', async (trouble) => {
    await bring(trouble);
    const reflected = reflectPods(connection);
    const struck = () => proxy.requests().filter(({ faults }) => faults.length > 0).map(({ at }) => at);
    await waitFor('two attempts', () => struck().length >= 2 || undefined);
    await reflected.stop();
    const [first = 0, second = 0] = struck();
    // A timer may go off a millisecond early.
    expect(second - first).toBeGreaterThanOrEqual(999);
  });
});

describe('a reflector that is stopped leaves no socket and no timer behind', () => {
  /** How many there are of each. */
  const resources = () => Map.groupBy(process.getActiveResourcesInfo().filter((name) => /Timeout|TCP|TLS/.test(name)), (name) => name);

  it.each([{ name: 'a quiet watch', fault: undefined }, closedPort, partition, frozenWatches, retryLater, hugeFrame, endlessBody])(
    'in $name',
    async ({ name, fault, ...rest }) => {
      await disconnect();
      await cluster.admin.list('/api/v1/pods');
      const before = resources();
      await connectThroughProxy();
      const reflected = reflectPods(connection);
      await isSynced(reflected);
      if (fault !== undefined) {
        const seen = reflected.restarts.length;
        await bring({ name, fault, ...rest });
        await waitFor('a restart', () => reflected.restarts.length > seen || undefined);
      }
      const { agent } = await connection.authorize({ signal: AbortSignal.timeout(1_000) });
      await reflected.stop();
      // Before the connection is closed, which would do away with what the reflector had left behind.
      await expect.poll(() => ({ ...agent.sockets, ...agent.requests }), { timeout: 5_000, interval: 25 }).toEqual({});
      await disconnect();
      const leaked = () => [...resources()].filter(([kind, { length }]) => length > (before.get(kind)?.length ?? 0));
      // No expect.poll here: it has a timer of its own.
      await waitFor('sockets and timers to go', () => leaked().length === 0 || undefined).catch(() => expect(leaked()).toEqual([]));
    },
  );
});
