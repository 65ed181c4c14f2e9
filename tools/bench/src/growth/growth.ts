import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { freePort } from '@kube-semaphore/fault-proxy';
import { labelDomains, nameLabel } from '@kube-semaphore/network-policies';
import { deployedCrds, globalNetworkSetCrd } from '@kube-semaphore/testkit';
import { type Clusters, createNamespaces, requestsTo, startClusters } from '../load/clusters.ts';
import {
  allSeen,
  MIRRORS,
  mirrorFlags,
  policyFlags,
  rights,
  watched,
  writePart,
} from '../many-remotes/many-remotes.ts';
import { NAMESPACE, objectsOf, type Part, policyOf, Shop, subjects } from '../many-remotes/shop.ts';
import type { Holding } from '../measure/holdings.ts';
import { LocalWatch } from '../measure/local-watch.ts';
import { whileProbed } from '../measure/longest-answers.ts';
import { atRate } from '../measure/pace.ts';
import { type Program, within } from '../measure/program.ts';
import { total } from '../measure/requests.ts';
import { durations } from '../measure/summary.ts';
import { socketsOf, usageAfter, usageOf } from '../measure/usage.ts';
import type { GrowthOptions } from '../options.ts';
import { ours, type Place, runOnce, type Setting, type Trial } from '../phases/run.ts';
import type { Figures, Round } from '../report/report.ts';
import { type Growing, growingPlans, POLICIES } from './growing-shop.ts';
import type { Measured } from './results.ts';
import { measureTunnels } from './tunnels.ts';

type Launchers = Readonly<Record<'policy' | 'service-mirror' | 'wireguard', string>>;

const POLL_MS = 50;
const SETS = '/apis/projectcalico.org/v3/globalnetworksets';

/**
 * What an app takes with each number of remotes, which all have as much. All API servers are embedded ones.
 *
 * @param found is given the figures of each app and number as soon as they are there
 * @throws {Error} if a program ends, or a phase takes too long
 */
export async function benchGrowth(
  { app, remotes, ...options }: GrowthOptions,
  launchers: Launchers,
  { say, found }: Pick<Setting, 'say'> & { found: (measured: Measured) => Promise<void> },
): Promise<void> {
  for (const each of app) {
    for (const count of remotes) {
      const sayMore = (what: string) => say(`${each}, ${count} remotes: ${what}`);
      const { figures, failure } =
        each === 'wireguard'
          ? await measureTunnels(count, { ...options, launcher: launchers.wireguard, say: sayMore })
          : await measure(each, count, { ...options, launchers, say: sayMore });
      if (failure !== undefined) throw new Error(`${each}, ${count} remotes: ${failure}`);
      await found({ app: each, percent: options.percent, remotes: count, figures });
    }
  }
}

type World = {
  readonly clusters: Clusters;
  readonly shop: Shop;
  readonly watch: LocalWatch;
  /** Of the program's health server. */
  readonly port: number;
};
type Size = Omit<GrowthOptions, 'app' | 'remotes' | 'results' | 'pictures'>;

async function measure(
  app: Exclude<Growing, 'wireguard'>,
  remotes: number,
  { launchers, say, ...options }: Size & Pick<Setting, 'say'> & { readonly launchers: Launchers },
): Promise<Round> {
  say('loading');
  const bundle = app === 'service-mirror' ? app : 'policy';
  const world = await startWorld(app, remotes, options.percent);
  try {
    const flags = async (place: Place) => ({
      ...(await (bundle === 'policy' ? policyFlags : mirrorFlags)(place)),
      ...(app === 'policy' && { 'network-policies': 'false' }),
      'listen-address': `127.0.0.1:${world.port}`,
    });
    const entrant = {
      ...ours(launchers[bundle], 'auto', flags),
      phases: (trial: Trial) => phases(world, trial, options),
    };
    const run = { rights: rights[bundle], cleanUp: () => Promise.resolve(), say };
    return await runOnce(entrant, world.clusters, app, run);
  } finally {
    world.watch.close();
    await world.clusters.stop();
  }
}

async function startWorld(app: Exclude<Growing, 'wireguard'>, remotes: number, percent: number): Promise<World> {
  const clusters = await startClusters({ embedded: true }, remotes);
  const { local } = clusters;
  const objects = app === 'service-mirror' ? 'Services' : 'Pods';
  const shop = new Shop(growingPlans(objects, { remotes, percent }));
  for (const { api } of [local, ...clusters.remotes])
    for (const crd of deployedCrds('service-mirror/mcs')) await api.defineResource(crd);
  // Without Calico, policy writes companions only.
  if (app === 'policy') await local.api.defineResource(globalNetworkSetCrd('projectcalico.org'));
  await createNamespaces(local, [MIRRORS, NAMESPACE]);
  const partsOf = Map.groupBy(shop.parts, ({ remote }) => remote);
  for (const [remote, cluster] of clusters.remotes.entries()) {
    await createNamespaces(cluster, [NAMESPACE]);
    seed(cluster.api, (partsOf.get(remote) ?? []).flatMap(objectsOf).map(inSet));
  }
  if (app === 'companions')
    seed(
      local.api,
      Array.from({ length: POLICIES }, (_, index) => policyOf(index)),
    );
  const account = await local.api.account('bench', [...rights['service-mirror'].local, ...rights.policy.local]);
  const all = { ...watched, ...(app === 'policy' && { [SETS]: readSet }) };
  return { clusters, shop, watch: await LocalWatch.open(local.api, account, all), port: await freePort() };
}

function seed(api: Clusters['local']['api'], objects: readonly KubeObject[]): void {
  if (api.kind === 'embedded') api.seed(objects);
}

/** Makes a Pod a member of a set, too. */
function inSet({ metadata, ...object }: KubeObject): KubeObject {
  const { app } = metadata.labels ?? {};
  const labels = { ...metadata.labels, ...(app !== undefined && { [nameLabel(labelDomains[0])]: app }) };
  return { ...object, metadata: { ...metadata, labels } } as KubeObject;
}

function readSet({ metadata: { name }, ...object }: KubeObject): Holding {
  const { nets = [] } = object['spec'] as { nets?: string[] };
  return { key: name, items: nets.map((net) => net.split('/')[0]!) };
}

async function* phases(
  { clusters, shop, watch, port }: World,
  { account, start, say }: Trial,
  { changes, rate, settle }: Size,
): AsyncGenerator<Figures, void> {
  const everywhere = [clusters.local, ...clusters.remotes];
  const requests = async () => total(await requestsTo(everywhere, account));
  say('until all is written');
  const program = start();
  const addresses = shop.addresses(subjects);
  const seen = addresses.size === 0 ? undefined : allSeen(watch, addresses, program);
  await answers('/healthz', port, program);
  const first = await whileProbed(program, port, async () => {
    const readyAtMs = await answers('/readyz', port, program);
    return Math.max(readyAtMs, (await seen) ?? 0);
  });
  const { cpuSeconds } = await usageOf(program.pid);
  yield {
    'all written after': [(first.result - program.startedAtMs) / 1000, 's'],
    'CPU until then': [cpuSeconds, 's'],
    'requests until then': [await requests()],
    'longest turn until then': [first.longestRunningMs, 'ms'],
  };
  const { residentMb } = await usageAfter(settle, program);
  yield { sockets: [await socketsOf(program.pid)], 'settled memory': [residentMb, 'MB'] };

  const parts = partsToChange(shop, changes);
  const write = writerIn(clusters);
  const make = (some: readonly Part[]): Promise<readonly number[]> =>
    atRate(some, rate, async (part) => {
      const address = shop.replaceAddress(part);
      const isSeen = watch.until(({ items, atMs }) => (items.includes(address) ? atMs : undefined), {
        signal: within(program),
      });
      await write(part);
      const answeredAtMs = performance.now();
      return (await isSeen) - answeredAtMs;
    });
  if (parts.length > 0) {
    say(`${parts.length} changes, ${rate} a second`);
    const warmUp = parts.filter((_, index) => index % 4 === 0);
    const { longestRunningMs } = await whileProbed(program, port, () => make(warmUp));
    const [before, requestsBefore] = [await usageOf(program.pid), await requests()];
    const ms = await make(parts);
    const after = await usageOf(program.pid);
    yield {
      'longest turn during changes': [longestRunningMs, 'ms'],
      'requests per change': [((await requests()) - requestsBefore) / parts.length],
      'CPU of a change': [(1000 * (after.cpuSeconds - before.cpuSeconds)) / parts.length, 'ms'],
      ...durations('from the answer to the local object', ms, [50, 99]),
    };
  }
  yield { 'peak memory': [(await usageOf(program.pid)).peakMb, 'MB'] };
}

/** Writes the present addresses of a part, one write after the other of each, as an old one must not come last. */
function writerIn(clusters: Clusters): (part: Part) => Promise<void> {
  const last = new Map<Part, Promise<void>>();
  return (part) => {
    const write = (last.get(part) ?? Promise.resolve()).then(() => writePart(clusters, part));
    last.set(part, write);
    return write;
  };
}

/**
 * As many changes of each subject, in turn. A local object shows each new address until all others of its part are
 * replaced: so few changes that this never happens.
 */
function partsToChange(shop: Shop, changes: number): readonly Part[] {
  const present = subjects.filter((subject) => shop.parts.some((part) => part.subject === subject));
  const lists = present.map((subject) => {
    const count = Math.min(changes / present.length, shop.addresses([subject]).size);
    return shop.some(subject, Math.floor(count));
  });
  return (lists[0] ?? []).flatMap((_, index) => lists.flatMap((list) => list[index] ?? []));
}

/** Resolves with the time when the program answers 200. */
async function answers(path: '/healthz' | '/readyz', port: number, program: Program): Promise<number> {
  const signal = within(program);
  // The port isn't open at first.
  const isOk = () =>
    fetch(`http://127.0.0.1:${port}${path}`, { signal }).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isOk())) await delay(POLL_MS, undefined, { signal });
  return performance.now();
}
