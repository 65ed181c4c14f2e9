import { readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { freePort } from '@kube-semaphore/fault-proxy';
import { deployedCrds, globalNetworkSetCrd, issueToken } from '@kube-semaphore/testkit';
import {
  type BenchCluster,
  CONNECTIONS,
  type Clusters,
  createNamespaces,
  type Rights,
  startClusters,
} from '../load/clusters.ts';
import { memoryOfTunnels } from '../growth/tunnels.ts';
import { MIRRORS, mirrorFlags, policyFlags, rights } from '../many-remotes/many-remotes.ts';
import { NAMESPACE, rangeOf } from '../many-remotes/shop.ts';
import type { Program } from '../measure/program.ts';
import { socketsOf, usageOf } from '../measure/usage.ts';
import type { Churned, ChurnOptions } from '../options.ts';
import { ours, type Place, runOnce, type Setting, type Trial } from '../phases/run.ts';
import type { Figures } from '../report/report.ts';
import { METRICS_PORT, type Station, startStation } from '../wireguard/station.ts';
import { flagsIn, rights as wireGuardRights } from '../wireguard/wireguard.ts';
import { holdsOf, INSPECTED } from './holds.ts';
import { mirrorSlots, policySlots, REMOTES, wireguardSlots } from './slots.ts';
import { type Slot, Turnover } from './turnover.ts';
import { judge, type Judged, type Sample } from './verdict.ts';
import { undone, type Work, writtenName } from './written.ts';

type Subject = {
  readonly rights: Rights;
  readonly slots: readonly Slot[];
  /** Collections of the local cluster that the app writes. Some of them have its sources, too. */
  readonly written: readonly string[];
  /** Its flags; writes the config file with the remotes of the place. */
  flags(place: Place): Promise<Readonly<Record<string, string>>>;
};

const subjects: Readonly<Record<Churned, Subject>> = {
  policy: {
    rights: rights.policy,
    slots: policySlots,
    written: ['/apis/projectcalico.org/v3/globalnetworksets', '/apis/networking.k8s.io/v1/networkpolicies'],
    flags: policyFlags,
  },
  'service-mirror': {
    rights: rights['service-mirror'],
    slots: mirrorSlots,
    written: [
      '/api/v1/services',
      '/apis/discovery.k8s.io/v1/endpointslices',
      '/apis/multicluster.x-k8s.io/v1beta1/serviceimports',
    ],
    flags: mirrorFlags,
  },
  wireguard: {
    rights: wireGuardRights,
    slots: wireguardSlots,
    written: [],
    flags: (place) => flagsIn(place, rangeOf),
  },
};

/**
 * What a figure may gain between the first third and the end: how much samples of a program differ that keeps nothing. What is
 * kept of each name, or each round, of an hour is more. Memory is judged from {@link MEMORY_MS} on: until then, V8 compiles.
 */
const BOUNDS = {
  sockets: 25,
  'open files': 25,
  'active resources': 15,
  'series of metrics': 60,
  'objects known': 3,
  'written objects': 3,
};
const MEMORY_BOUNDS = { 'heap, MB': 1, 'external, MB': 1, 'resident, MB': 8 };
const MEMORY_MS = 300_000;

/** The parts of a round in which objects churn, and what happens meanwhile. Then it is quiet, for the sample. */
const CHURNING = 0.8;
const EVENTS = ['cut', 'leave', 'renew', 'expire', 'return', 'cut'] as const;

/** How long the app may take to do its work when nothing changes any more: it needs seconds, and more on a busy machine. */
const QUIET_MS = 60_000;
const SETTLED_MS = 5_000;

export type Outcome = { readonly judged: readonly Judged[]; readonly facts: readonly string[] };

/**
 * Lets an app work for a long time beside objects that come, change and go, under names that never come again, while watches
 * end, lists expire, tokens are renewed, and remotes leave and return. All API servers are embedded ones.
 *
 * @throws {Error} if the app ends, or doesn't do its work
 */
export async function benchChurn(
  app: Churned,
  options: Omit<ChurnOptions, 'app'>,
  { launcher, say }: Setting,
): Promise<Outcome> {
  const subject = subjects[app];
  // The last one is read under a new name each time, and has nothing.
  const clusters = await startClusters({ embedded: true }, REMOTES + 1);
  try {
    const turnover = await load(clusters, subject);
    const station = app === 'wireguard' ? await startStation(clusters) : undefined;
    const samples: Sample[] = [];
    const port = station === undefined ? await freePort() : METRICS_PORT;
    let place: Place | undefined;
    const entrant = {
      ...ours(launcher, 'auto', async (given) => {
        place = given;
        const flags = await subject.flags(withRemotes(given, atFirst(given)));
        return { ...flags, 'deletion-guard-hold': '5s', 'listen-address': `127.0.0.1:${port}` };
      }),
      phases: (trial: Trial) => {
        const world = { clusters, subject, turnover, station, place: place!, port };
        return rounds(world, trial, { ...options, found: (sample) => samples.push(sample) });
      },
    };
    const { command } = entrant;
    const inspected = async (where: Place) => {
      const line = ['env', INSPECTED, ...(await command(where))];
      return station?.commandLine(line) ?? line;
    };
    const run = { rights: subject.rights, cleanUp: async () => station?.stop(), say };
    const { failure } = await runOnce({ ...entrant, command: inspected }, clusters, 'churn', run);
    if (failure !== undefined) throw new Error(`${app}: ${failure}`);
    const tookMs = samples.at(-1)!.atMs;
    const bounds = tookMs < MEMORY_MS ? BOUNDS : { ...BOUNDS, ...MEMORY_BOUNDS };
    const { things, writes } = turnover.counts;
    const facts = [
      `${app}: ${(tookMs / 60_000).toFixed(1)} minutes, ${samples.length} rounds`,
      `${subject.slots.length} things at any time, ${things} in all; ${writes} writes`,
    ];
    return { judged: judge(samples, bounds), facts };
  } finally {
    await clusters.stop();
  }
}

type World = {
  readonly clusters: Clusters;
  readonly subject: Subject;
  readonly turnover: Turnover;
  readonly station: Station | undefined;
  readonly place: Place;
  readonly port: number;
};

type Remote = Place['remotes'][number];
const withRemotes = (place: Place, remotes: readonly Remote[]): Place => ({ ...place, remotes });
const atFirst = ({ remotes }: Place): readonly Remote[] => remotes.slice(0, REMOTES);

async function load(clusters: Clusters, { slots }: Subject): Promise<Turnover> {
  const all = [clusters.local, ...clusters.remotes];
  for (const { api } of all) for (const crd of deployedCrds('service-mirror/mcs')) await api.defineResource(crd);
  await clusters.local.api.defineResource(globalNetworkSetCrd('projectcalico.org'));
  await createNamespaces(clusters.local, [MIRRORS]);
  for (const cluster of all) await createNamespaces(cluster, [NAMESPACE]);
  const turnover = new Turnover(all);
  await turnover.fill(slots);
  return turnover;
}

async function* rounds(
  world: World,
  { account, start, say }: Trial,
  options: Omit<ChurnOptions, 'app'> & { readonly found: (sample: Sample) => void },
): AsyncGenerator<Figures, void> {
  const program = start();
  const { signal } = program;
  say('until all is written');
  let before = await settledIn(world, signal);
  const count = before.size;
  const startMs = performance.now();
  for (let round = 0; round < options.rounds; round++) {
    const { things } = world.turnover.counts;
    const churnMs = options.period * 1000 * CHURNING;
    const events = async () => {
      for (const [index, event] of EVENTS.entries()) {
        await delay(churnMs / (EVENTS.length + 1), undefined, { signal });
        await happen(event, world, { round, nth: round + index, account });
      }
    };
    await Promise.all([world.turnover.run({ perSecond: options.rate, endMs: performance.now() + churnMs }), events()]);
    await delay(options.period * 1000 * (1 - CHURNING), undefined, { signal });
    const newThings = world.turnover.counts.things - things;
    before = await untilDone(world, { count, before, newThings }, signal);
    for (const { api } of [world.clusters.local, ...world.clusters.remotes])
      if (api.kind === 'embedded') api.clearRequests();
    const figures = await figuresOf(world, program);
    options.found({ atMs: performance.now() - startMs, figures });
    say(`${((performance.now() - startMs) / 60_000).toFixed(1)} minutes: ${JSON.stringify(figures)}`);
  }
  yield {};
}

/** Resolves with the names of the written objects when the app has done its work. @throws {Error} if it doesn't */
async function untilDone(world: World, work: Work, signal: AbortSignal): Promise<ReadonlySet<string>> {
  for (const endMs = performance.now() + QUIET_MS; ; await delay(500, undefined, { signal })) {
    const names = await writtenIn(world);
    const why = undone(names, work);
    if (why === undefined) return names;
    if (performance.now() > endMs) throw new Error(`after ${QUIET_MS / 1000} s without a change, ${why}`);
  }
}

/** Something that happens to connections, credentials or the config file. */
async function happen(
  event: (typeof EVENTS)[number],
  { clusters, subject, turnover, place }: World,
  { round, nth, account }: { readonly round: number; readonly nth: number; readonly account: string },
): Promise<void> {
  const all = [clusters.local, ...clusters.remotes];
  const cluster = all[nth % all.length]!;
  if (event === 'leave') {
    const guest = { ...place.remotes.at(-1)!, name: `guest-${round}` };
    await subject.flags(withRemotes(place, [place.remotes[0]!, guest]));
  } else if (event === 'return') await subject.flags(withRemotes(place, atFirst(place)));
  else if (event === 'renew') await issueToken(cluster.api, { namespace: 'kube-system', name: account });
  else await turnover.whileStill(() => reset(cluster, event === 'expire'));
}

/** Resets all connections, also those of the bench, and uses these up: the next request would fail on one. */
async function reset({ api }: BenchCluster, expire: boolean): Promise<void> {
  if (api.kind !== 'embedded') throw new Error('only embedded API servers can do this');
  if (expire) api.compact();
  api.disconnect();
  await Promise.allSettled(Array.from({ length: CONNECTIONS }, () => api.admin.get('/version')));
}

/** Resolves with the names of the written objects when the app is ready, and they haven't changed for a while. */
async function settledIn(world: World, signal: AbortSignal): Promise<ReadonlySet<string>> {
  // The port isn't open at first.
  while ((await ask(world, '/readyz').catch(() => undefined))?.status !== 200) await delay(500, undefined, { signal });
  let names: ReadonlySet<string> = new Set();
  let sinceMs = performance.now();
  while (performance.now() - sinceMs < SETTLED_MS) {
    const now = await writtenIn(world);
    if (!isDeepStrictEqual(now, names)) [names, sinceMs] = [now, performance.now()];
    await delay(500, undefined, { signal });
  }
  return names;
}

/** The names of what the app wrote: without sources, which get new names themselves. */
async function writtenIn({ clusters, subject, turnover, station }: World): Promise<ReadonlySet<string>> {
  const lists = subject.written.map(async (collection) => {
    const objects = await clusters.local.api.admin.list(collection);
    return objects.map((object) => writtenName(collection, object));
  });
  const names = new Set([...(await Promise.all(lists)).flat(), ...((await station?.peers()) ?? [])]);
  for (const source of turnover.names(0)) names.delete(source);
  return names;
}

async function ask(
  { station, port }: World,
  path: '/readyz' | '/metrics' | '/status',
): Promise<{ readonly status: number; readonly body: string }> {
  if (station !== undefined) return station.ask(path);
  const answer = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: answer.status, body: await answer.text() };
}

async function figuresOf(world: World, program: Program): Promise<Readonly<Record<string, number>>> {
  const { station } = world;
  const { body: metrics } = await ask(world, '/metrics');
  const status = JSON.parse((await ask(world, '/status')).body) as {
    remotes: { objects: Readonly<Record<string, number>> | null }[];
  };
  const { heapMb, externalMb, resources } = await holdsOf(program, station?.commandLine ?? ((line) => line));
  const { residentMb } = await usageOf(program.pid);
  return {
    'heap, MB': heapMb,
    'external, MB': externalMb,
    'resident, MB': residentMb,
    sockets: await socketsOf(program.pid),
    'open files': (await readdir(`/proc/${program.pid}/fd`)).length,
    timers: resources.filter((kind) => kind === 'Timeout').length,
    'active resources': resources.length,
    'series of metrics': metrics.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length,
    'objects known': status.remotes
      .flatMap(({ objects }) => Object.values(objects ?? {}))
      .reduce((sum, each) => sum + each, 0),
    'written objects': (await writtenIn(world)).size,
    ...(station !== undefined && { 'wireguard-go, MB': await memoryOfTunnels(program) }),
  };
}
