import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '@kube-semaphore/cluster-auth';
import type { TestAccount, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import {
  Dice,
  type Fault,
  faultKinds,
  type FaultProxy,
  faultSeed,
  play,
  randomSchedule,
  type RequestFilter,
  startFaultProxy,
} from '@kube-semaphore/fault-proxy';
import { KubeClient } from '@kube-semaphore/kube-client';
import { podKind } from '@kube-semaphore/kube-objects';
import { createPod, deletePod, pod, startCluster } from '@kube-semaphore/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Reflector, Store } from '../src/index.ts';
import { connectTo, LONG_TIMEOUTS, reflectPods, type Seen } from './reflect-pods.ts';

/** Pods that exist during all tests, and whose addresses change. */
const STAYING = ['stays-0', 'stays-1', 'stays-2'];
/** So often does each reflector watch again under random faults. */
const RESTARTS = 10;

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
  const restore = (name: string) => (STAYING.includes(name) ? setAddress(name, '10.0.0.1') : remove(name));
  await Promise.all(pods.map(({ metadata }) => restore(metadata.name)));
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
async function setAddress(name: string, ip: string): Promise<void> {
  const status = { podIP: ip, podIPs: [{ ip }] };
  await cluster.admin.request('PATCH', `/api/v1/namespaces/default/pods/${name}/status`, { status });
}

/** Creates, changes and removes pods at random; the staying ones only change. */
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

const isSynced = ({ store }: Reflected) => eventually(() => store.view.synced, true);

/** What a store should have, according to the cluster. */
async function truth(): Promise<Map<string, Seen>> {
  const pods = await cluster.admin.list('/api/v1/pods');
  return new Map(
    pods.map(({ metadata: { namespace, name, uid = '' }, status }) => {
      const { podIPs = [] } = status as { podIPs?: { ip: string }[] };
      return [`${namespace}/${name}`, { uid, ips: podIPs.map(({ ip }) => ip) }];
    }),
  );
}

/** Waits until the store equals the cluster. */
async function isEqual({ store }: Reflected): Promise<void> {
  const objects = await truth();
  await eventually(() => store.view, { synced: true, objects });
}

/** The staying pods that the store ever lost. */
const lost = ({ changes }: Reflected): string[] =>
  changes.filter(({ key, current }) => current === undefined && key.startsWith('default/stays-')).map(({ key }) => key);

/** Waits until the trouble hit the reflector twice from now on. */
async function hasHitTwice({ restarts }: Reflected, { fault: { kind } }: Trouble): Promise<void> {
  const struck = () => proxy.requests().filter(({ faults }) => faults.includes(kind)).length;
  const [before, restartsBefore] = [struck(), restarts.length];
  await eventually(() => Math.max(struck() - before, restarts.length - restartsBefore) >= 2, true);
}

type Trouble = {
  readonly name: string;
  readonly fault: Fault;
  readonly filter?: RequestFilter;
  /** Whether it affects open watches, so that they aren't ended. */
  readonly keepsOpen?: boolean;
};

const watches: RequestFilter = { verb: 'watch' };
const answer = (status: number): Trouble => ({ name: String(status), fault: { kind: 'answer', status } });
const retryLater: Trouble = {
  name: '429 with Retry-After',
  fault: { kind: 'answer', status: 429, retryAfterSeconds: 1 },
};
const closedPort: Trouble = { name: 'a closed port', fault: { kind: 'refuse' } };
const partition: Trouble = { name: 'a partition of the network', fault: { kind: 'stall' }, keepsOpen: true };
const frozenWatches: Trouble = { name: 'watches that freeze', fault: { kind: 'stall' }, filter: watches };
const expiredWatches: Trouble = {
  name: 'watches that expire',
  fault: { kind: 'answer', status: 410, as: 'event' },
  filter: watches,
};
const randomBytes: Trouble = { name: 'random bytes', fault: { kind: 'garbage', body: 'random', seed: 1 } };
const captivePortal: Trouble = { name: 'a captive portal', fault: { kind: 'garbage', body: 'html' } };
const hugeFrame: Trouble = { name: 'a frame of 4 GiB', fault: { kind: 'garbage', body: 'huge' } };
const endlessBody: Trouble = { name: 'a body without end', fault: { kind: 'garbage', body: 'endless' } };
const redirect: Trouble = { name: 'a redirect', fault: { kind: 'redirect', to: 'https://127.0.0.1:1' } };

const troubles: readonly Trouble[] = [
  closedPort,
  { name: 'connections that are reset', fault: { kind: 'reset', connections: 'all' } },
  partition,
  frozenWatches,
  { name: 'answers that end within an event', fault: { kind: 'truncate', after: 'mid-event', by: 'clean' } },
  { name: 'answers that are cut early', fault: { kind: 'truncate', after: 300, by: 'reset' } },
  { name: 'watches that end normally at once', fault: { kind: 'truncate', after: 0, by: 'clean' }, filter: watches },
  { name: 'watches that are cut all the time', fault: { kind: 'cut', everyMs: 50, by: 'close' }, filter: watches },
  { name: 'a slow server', fault: { kind: 'delay', requestMs: 200, chunkMs: 100 } },
  ...[401, 403, 410, 429, 500, 503].map(answer),
  { name: '500 to every second request', fault: { kind: 'answer', status: 500 }, filter: { every: 2 } },
  expiredWatches,
  randomBytes,
  captivePortal,
  hugeFrame,
  endlessBody,
  redirect,
  {
    name: 'pages that end behind their type',
    fault: { kind: 'truncate', after: 19, by: 'clean' },
    filter: { verb: 'list' },
  },
];

/** Starts trouble for new requests, and ends the open watch, which most faults don't affect. */
async function bring({ fault, filter, keepsOpen = false }: Trouble): Promise<void> {
  await proxy.set(fault, filter);
  if (!keepsOpen) await proxy.set({ kind: 'reset', connections: 'open' });
}

const ways = [{ watchList: 'auto' }, { watchList: 'never' }] as const;

describe.each(ways)('a reflector with WatchList: $watchList', ({ watchList }) => {
  it.each(troubles)('recovers from $name', async (trouble) => {
    await create('goes', '10.0.0.2');
    const reflected = reflectPods(connection, { watchList, requestIdleMs: 500 });
    await isSynced(reflected);
    await bring(trouble);
    await Promise.all([create('comes', '10.0.0.3'), remove('goes'), setAddress('stays-0', '10.0.1.0')]);
    await hasHitTwice(reflected, trouble);
    // Until now it may have continued its watch; this forces a list.
    reflected.reflector.relist();
    await hasHitTwice(reflected, trouble);
    await proxy.clear();
    await isEqual(reflected);
    await reflected.stop();
    expect(lost(reflected)).toEqual([]);
  });
});

it('all reflectors recover from random faults and changes', async () => {
  const seed = faultSeed();
  const both = ways.map(({ watchList }) => reflectPods(connection, { watchList, requestIdleMs: 500 }));
  await Promise.all(both.map(isSynced));
  const over = new AbortController();
  const felt = eventually(() => both.every(({ restarts }) => restarts.length >= RESTARTS), true);
  const schedule = randomSchedule(seed, { kinds: faultKinds.filter((kind) => kind !== 'empty'), longestMs: 400 });
  const [steps] = await Promise.all([
    play(proxy, schedule, over),
    changePods(new Dice(seed), over.signal),
    felt.finally(() => over.abort()),
  ]);
  await Promise.all(both.map(isEqual)).catch((cause: unknown) => {
    throw new Error(`after ${JSON.stringify(steps)}`, { cause });
  });
  await Promise.all(both.map(({ stop }) => stop()));
  expect({ steps, lost: both.flatMap(lost) }).toEqual({ steps, lost: [] });
});

/** A reflector as in production, except that its pauses are recorded and take no time. */
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

const ATTEMPTS = 12;

describe('a reflector does not spin', () => {
  it.each<Trouble & { leastSeconds: number; mostSeconds?: number }>([
    { ...closedPort, leastSeconds: 60 },
    { name: 'connections that are reset', fault: { kind: 'reset', connections: 'new' }, leastSeconds: 60 },
    ...[401, 403, 410, 422, 429, 500, 503].map((status) => ({ ...answer(status), leastSeconds: 60 })),
    { name: '500 to watches', fault: { kind: 'answer', status: 500 }, filter: watches, leastSeconds: 60 },
    { ...redirect, leastSeconds: 60 },
    // After a watch was accepted and cut, the next one begins soon.
    ...[expiredWatches, randomBytes, captivePortal].map((trouble) => ({ ...trouble, leastSeconds: 60 })),
    {
      name: 'watches that are cut at once, which delays no change for long',
      fault: { kind: 'truncate', after: 0, by: 'close' },
      filter: watches,
      leastSeconds: 10,
      mostSeconds: 12,
    },
  ])(`on $name: ${ATTEMPTS} attempts take $leastSeconds s or more`, async (trouble) => {
    const { leastSeconds, mostSeconds = Infinity } = trouble;
    await bring(trouble);
    const { pausesMs, requests, stop } = hurriedReflector();
    await eventually(() => pausesMs.length >= ATTEMPTS, true, { what: `${ATTEMPTS} attempts` });
    await stop();
    const totalMs = pausesMs.slice(0, ATTEMPTS).reduce((sum, ms) => sum + ms);
    expect(totalMs / 1000).toBeGreaterThan(leastSeconds);
    expect(totalMs / 1000).toBeLessThanOrEqual(mostSeconds);
    // A check of the history, a WatchList, and the pages that replace it.
    expect(requests.length).toBeLessThanOrEqual(3 * (pausesMs.length + 1));
  });

  it.each<Trouble>([
    retryLater,
    { name: '503 with Retry-After', fault: { kind: 'answer', status: 503, retryAfterSeconds: 1 } },
    {
      name: 'an ERROR event with retryAfterSeconds',
      fault: { kind: 'answer', status: 429, retryAfterSeconds: 1, as: 'event' },
      filter: watches,
    },
  ])('and waits as long as $name requests', async (trouble) => {
    await bring(trouble);
    const reflected = reflectPods(connection);
    const struck = () =>
      proxy
        .requests()
        .filter(({ faults }) => faults.length > 0)
        .map(({ at }) => at);
    await eventually(() => struck().length >= 2, true);
    await reflected.stop();
    const [first = 0, second = 0] = struck();
    // A timer may fire a millisecond early.
    expect(second - first).toBeGreaterThanOrEqual(999);
  });
});

/** What keeps the process running, by kind. */
function resources(): Map<string, string[]> {
  const names = process.getActiveResourcesInfo().filter((name) => /Timeout|TCP|TLS/.test(name));
  return Map.groupBy(names, (name) => name);
}

describe('a reflector that is stopped leaves no socket and no timer behind', () => {
  const quiet: Trouble = { name: 'a quiet watch', fault: { kind: 'delay', requestMs: 0, chunkMs: 0 } };

  const waits = [quiet, closedPort, partition, frozenWatches, retryLater, hugeFrame, endlessBody];

  it.each(waits)('in $name', async (trouble) => {
    await disconnect();
    const before = resources();
    await connectThroughProxy();
    const reflected = reflectPods(connection);
    await isSynced(reflected);
    const restarts = reflected.restarts.length;
    await bring(trouble);
    await eventually(() => reflected.restarts.length > restarts, true);
    const { agent } = await connection.authorize({ signal: new AbortController().signal });
    await reflected.stop();
    // Check before the connection is closed, which would close what the reflector left behind.
    await eventually(() => Object.values({ ...agent.sockets, ...agent.requests }).flat(), []);
    await disconnect();
    const leaked = () => [...resources()].filter(([name, { length }]) => length > (before.get(name)?.length ?? 0));
    await eventually(leaked, []);
  });
});

it('lists by WatchList again after a server ended one normally', async () => {
  await proxy.set({ kind: 'truncate', after: 0, by: 'clean' }, { verb: 'watch', times: 1 });
  const reflected = reflectPods(connection, LONG_TIMEOUTS);
  await isSynced(reflected);
  await reflected.stop();
  expect(reflected.requests).toEqual(['watch', 'watch']);
});

it.each([
  { status: 410, as: 'response', reason: 'expired' },
  { status: 410, as: 'event', reason: 'expired' },
  // The version is of the future.
  { status: 504, as: 'event', reason: 'server_error' },
] as const)('lists again after one $status, as $as', async ({ status, as, reason }) => {
  const reflected = reflectPods(connection, LONG_TIMEOUTS);
  await isSynced(reflected);
  const continued: RequestFilter = { verb: 'watch', target: /[?&]resourceVersion=/, times: 1 };
  await proxy.set({ kind: 'answer', status, as }, continued);
  await proxy.set({ kind: 'reset', connections: 'open' });
  const lists = () => proxy.requests().filter(({ target }) => target.includes('sendInitialEvents')).length;
  await eventually(lists, 2);
  await reflected.stop();
  expect(reflected.restarts).toEqual(['cut', reason]);
});
