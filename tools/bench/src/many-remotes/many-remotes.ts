import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { companionLabel } from '@kube-semaphore/network-policies';
import { deployedCrds, deployedRights, rulesOf } from '@kube-semaphore/testkit';
import { type Clusters, createNamespaces, type Rights, send, startClusters } from '../load/clusters.ts';
import type { Holding } from '../measure/holdings.ts';
import { LocalWatch } from '../measure/local-watch.ts';
import { atRate } from '../measure/pace.ts';
import { type Program, within } from '../measure/program.ts';
import { durations } from '../measure/summary.ts';
import { usageAfter, usageOf } from '../measure/usage.ts';
import type { ManyRemotesOptions } from '../options.ts';
import { ours, type Place, runOnce, type Setting, type Trial } from '../phases/run.ts';
import type { Figures, Report, Round } from '../report/report.ts';
import {
  NAMESPACE,
  objectsOf,
  type Part,
  plansFor,
  policyOf,
  rangeOf,
  selectors,
  Shop,
  type Subject,
  subjects,
  thingOf,
  writeOf,
} from './shop.ts';
import { Unseen } from './unseen.ts';

export const MIRRORS = 'sys-semaphore';
/** What the other number of remotes is compared with. */
const FEW = 2;
/** How much more a change may cost with many remotes, or of a Service with many sources, than a plain mirror with few. */
const MOST = 1.3;

type App = 'service-mirror' | 'policy';

export const rights: Readonly<Record<App, Rights>> = {
  'service-mirror': {
    remote: rulesOf(deployedRights('service-mirror/remote', 'service-mirror/components/remote-mcs')),
    local: rulesOf(
      deployedRights('service-mirror/base', 'service-mirror/components/global', 'service-mirror/components/mcs'),
    ),
  },
  policy: {
    remote: rulesOf(deployedRights('policy/remote', 'policy/components/remote-namespaces')),
    local: rulesOf(deployedRights('policy/base', 'policy/components/network-policies')),
  },
};

/** The subjects of each program. */
const SUBJECTS: Readonly<Record<App, readonly Subject[]>> = {
  'service-mirror': subjects.filter((subject) => subject !== 'companion'),
  policy: ['companion'],
};

type World = { readonly clusters: Clusters; readonly shop: Shop; readonly watch: LocalWatch };

/**
 * What one changed endpoint costs with two remotes and with many, for a plain mirror, a global Service, an import, and a
 * companion of a NetworkPolicy that names every cluster. All API servers are embedded ones.
 */
export async function benchManyRemotes(
  options: ManyRemotesOptions,
  launchers: Readonly<Record<App, string>>,
  say: Setting['say'],
): Promise<Report> {
  const counts = [options.remotes, FEW];
  const columns = counts.map((remotes) => ({ name: `${remotes} remotes`, rounds: [] as Round[] }));
  const order = [...counts.keys()];
  for (let round = 1; round <= options.repeat; round++) {
    for (const index of order.toReversed()) {
      const sayRound = (what: string) => say(`round ${round} of ${options.repeat}, ${columns[index]!.name}: ${what}`);
      columns[index]!.rounds.push(await roundOf(counts[index]!, options, launchers, sayRound));
    }
    order.reverse();
  }
  const limited = subjects
    .filter((subject) => subject !== 'mirror')
    .map((subject) => [toMirror(subject), MOST] as const);
  return {
    facts: [
      `${options.services} Services of each kind with 10 endpoints per remote; NetworkPolicies that name ${podsIn(options)} Pods each`,
      `${options.changes} changes of each kind, ${options.rate} a second; median of ${options.repeat} rounds`,
      `the ratio is of many remotes to ${FEW}; up to ${MOST} is met`,
    ],
    columns,
    targets: Object.fromEntries(limited),
    mostRatio: MOST,
  };
}

const podsIn = ({ remotes }: ManyRemotesOptions): number => remotes;
const cpuOf = (subject: Subject): string => `${subject}: CPU of a change`;
const toMirror = (subject: Subject): string => `${subject}: CPU, in those of a mirror`;

async function roundOf(
  remotes: number,
  options: ManyRemotesOptions,
  launchers: Readonly<Record<App, string>>,
  say: Setting['say'],
): Promise<Round> {
  say('loading');
  const world = await startWorld(remotes, options);
  try {
    const rounds: Round[] = [];
    for (const app of ['service-mirror', 'policy'] as const) {
      const entrant = {
        ...ours(launchers[app], 'auto', app === 'policy' ? policyFlags : mirrorFlags),
        phases: (trial: Trial) => phases(world, app, trial, options),
      };
      const round = { rights: rights[app], cleanUp: () => Promise.resolve(), say };
      rounds.push(await runOnce(entrant, world.clusters, app, round));
    }
    const figures: Figures = Object.assign({}, ...rounds.map((round) => round.figures));
    const failure = rounds.find((round) => round.failure !== undefined)?.failure;
    return { figures: { ...figures, ...toMirrors(figures) }, ...(failure !== undefined && { failure }) };
  } finally {
    world.watch.close();
    await world.clusters.stop();
  }
}

/** The CPU time of each subject as a multiple of that of a mirror. */
function toMirrors(figures: Figures): Figures {
  const cpu = (subject: Subject): number => Number(figures[cpuOf(subject)]?.[0]);
  const others = subjects.filter((subject) => subject !== 'mirror');
  return Object.fromEntries(others.map((subject) => [toMirror(subject), [cpu(subject) / cpu('mirror')]]));
}

async function startWorld(remotes: number, options: ManyRemotesOptions): Promise<World> {
  const clusters = await startClusters({ embedded: true }, remotes);
  const { local } = clusters;
  const shop = new Shop(plansFor({ remotes, services: options.services, pods: podsIn(options) }));
  for (const { api } of [local, ...clusters.remotes])
    for (const crd of deployedCrds('service-mirror/mcs')) await api.defineResource(crd);
  await createNamespaces(local, [MIRRORS, NAMESPACE]);
  for (const cluster of clusters.remotes) await createNamespaces(cluster, [NAMESPACE]);
  const partsOf = Map.groupBy(shop.parts, ({ remote }) => remote);
  for (const [remote, { api }] of clusters.remotes.entries())
    if (api.kind === 'embedded') api.seed((partsOf.get(remote) ?? []).flatMap(objectsOf));
  for (let app = 0; app < options.services; app++)
    await local.api.admin.create(`/apis/networking.k8s.io/v1/namespaces/${NAMESPACE}/networkpolicies`, policyOf(app));
  const account = await local.api.account('bench', [...rights['service-mirror'].local, ...rights.policy.local]);
  return { clusters, shop, watch: await LocalWatch.open(local.api, account, watched) };
}

const slices = (namespace: string): string => `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;

export const watched = {
  [slices(MIRRORS)]: readSlice,
  [slices(NAMESPACE)]: readSlice,
  [`/apis/networking.k8s.io/v1/networkpolicies?labelSelector=${companionLabel}`]: readCompanion,
};

/** Each object is a key of its own: here, only its addresses count. */
function readSlice({ metadata: { namespace, name }, ...object }: KubeObject): Holding {
  const endpoints = (object['endpoints'] ?? []) as readonly { readonly addresses: readonly string[] }[];
  return { key: `${namespace}/${name}`, items: endpoints.flatMap(({ addresses }) => addresses) };
}

function readCompanion({ metadata: { namespace, name }, ...object }: KubeObject): Holding {
  const { ingress = [] } = object['spec'] as { ingress?: { from: { ipBlock: { cidr: string } }[] }[] };
  const items = ingress.flatMap(({ from }) => from.map(({ ipBlock }) => ipBlock.cidr.split('/')[0]!));
  return { key: `${namespace}/${name}`, items };
}

async function* phases(
  { clusters, shop, watch }: World,
  app: App,
  { start, say }: Trial,
  { changes, rate, settle }: ManyRemotesOptions,
): AsyncGenerator<Figures, void> {
  say(`cold sync of ${app}`);
  const unseen = new Unseen();
  const program = start();
  await allSeen(watch, shop.addresses(SUBJECTS[app]), program);
  await usageAfter(settle, program);
  const make = (subject: Subject, count: number): Promise<readonly number[]> =>
    atRate(shop.some(subject, count), rate, (part) => {
      return unseen.during(thingOf(part), async () => {
        const address = shop.replaceAddress(part);
        const seen = watch.until(({ items, atMs }) => (items.includes(address) ? atMs : undefined), {
          signal: within(program),
        });
        await writePart(clusters, part);
        const answeredAtMs = performance.now();
        return (await seen) - answeredAtMs;
      });
    });
  say('warming up');
  for (const subject of SUBJECTS[app]) await make(subject, Math.ceil(changes / 4));
  for (const subject of SUBJECTS[app]) {
    say(`${changes} changes, ${rate} a second: ${subject}`);
    const before = await usageOf(program.pid);
    const ms = await make(subject, changes);
    const { cpuSeconds } = await usageOf(program.pid);
    yield {
      [cpuOf(subject)]: [(1000 * (cpuSeconds - before.cpuSeconds)) / changes, 'ms'],
      ...durations(`${subject}: from the answer to the local object`, ms, [50, 99]),
    };
  }
  yield { [`${app}: peak memory`]: [(await usageOf(program.pid)).peakMb, 'MB'] };
}

/** Writes the present addresses of a part. */
export function writePart({ remotes }: Clusters, part: Part): Promise<void> {
  const { method, path, body } = writeOf(part);
  return send(remotes[part.remote]!.api.admin, method, path, body);
}

/** Resolves with the time when the local cluster has had all of these addresses, from now on. */
export async function allSeen(watch: LocalWatch, addresses: ReadonlySet<string>, program: Program): Promise<number> {
  const missing = new Set(addresses);
  return watch.until(
    ({ items, atMs }) => {
      for (const item of items) missing.delete(item);
      return missing.size === 0 ? atMs : undefined;
    },
    { signal: within(program) },
  );
}

/** Writes at any pace: what is measured is the cost of one. */
const UNLIMITED = { 'min-write-interval': '1ms', 'max-remote-writes': '100000' };

export async function mirrorFlags({ local, remotes, dir }: Place): Promise<Readonly<Record<string, string>>> {
  const config = join(dir, 'service-mirror.json');
  const file = {
    global: {
      mirrorSvcLabelSelector: selectors.mirror,
      globalSvcLabelSelector: selectors.global,
      mirrorNamespace: MIRRORS,
      serviceSync: true,
      endpointSliceSync: true,
    },
    localCluster: { name: 'c1', kubeConfigPath: local, zones: ['z1'] },
    mcs: {},
    remoteClusters: remotes.map(({ name, kubeConfigPath }) => ({ name, kubeConfigPath, servicePrefix: name })),
  };
  await writeFile(config, JSON.stringify(file));
  return { config, ...UNLIMITED };
}

export async function policyFlags({ local, remotes, dir }: Place): Promise<Readonly<Record<string, string>>> {
  const config = join(dir, 'policy.json');
  const file = { remotes: remotes.map((remote, i) => ({ ...remote, allowedPodCIDRs: [rangeOf(i)] })) };
  await writeFile(config, JSON.stringify(file));
  return {
    'local-kube-config': local,
    config,
    'label-domain': 'semaphore.uw.systems',
    'network-policies': 'true',
    ...UNLIMITED,
  };
}
