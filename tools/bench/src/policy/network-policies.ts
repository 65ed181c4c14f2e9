import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { clusterSetLabel, companionLabel, companionSourceKey } from '@kube-semaphore/network-policies';
import { deployedRights, rulesOf } from '@kube-semaphore/testkit';
import { CONNECTIONS, createNamespaces, send } from '../load/clusters.ts';
import type { Holding } from '../measure/holdings.ts';
import { whileProbed } from '../measure/longest-answers.ts';
import { atRate, inParallel } from '../measure/pace.ts';
import { type Program, within } from '../measure/program.ts';
import { percentile } from '../measure/summary.ts';
import { type Bench, CHANGES_PER_SECOND, removeAll } from '../phases/bench.ts';
import { type Course, WRITES_PER_SECOND } from '../phases/race.ts';
import type { Figures, Targets } from '../report/report.ts';
import { expectedNets, type Fleet, setOf } from './fleet.ts';
import { type Conditions, type Kind, ROLLOUT } from './sets.ts';

/** Each NetworkPolicy admits the Pods of one workload from namespaces with the label `stage: open`. */
const OPEN = 'open';
const CLOSED = 'closed';

const API = 'networking.k8s.io/v1';
const areCompanions = `labelSelector=${companionLabel}`;
const pathOf = (namespace: string): string => `/apis/${API}/namespaces/${namespace}/networkpolicies`;

/** The companions of NetworkPolicies in the local cluster, each of which has the name of its workload. */
export const companions: Kind = {
  object: 'companion',
  rights: {
    remote: rulesOf(deployedRights('policy/remote', 'policy/components/remote-namespaces')),
    local: rulesOf(deployedRights('policy/base', 'policy/components/network-policies')),
  },
  watched: { [`/apis/${API}/networkpolicies?${areCompanions}`]: readCompanion },
  collections: ({ namespaces }) => namespaces.map((namespace) => `${pathOf(namespace)}?${areCompanions}`),
  selector: '',
  prepare: async (bench, fleet, { changes, say }) => {
    await createSources(bench, fleet);
    say('measuring bare writes');
    const { creationSeconds, fact } = await bareWrites(bench, fleet, changes);
    return { facts: [fact], targetsOf: (conditions) => companionTargets(conditions, creationSeconds) };
  },
};

/** Exported for its test. */
export function companionTargets({ pods, bareDownloadSeconds }: Conditions, bareCreationSeconds: number): Targets {
  const peakMb = pods === 50_000 ? 190 : undefined;
  return {
    'cold sync: first companion written after': 2 * bareDownloadSeconds,
    'cold sync: all companions written after': 2 * bareDownloadSeconds,
    'cold sync: peak memory': peakMb,
    '20 changes/s: from the answer to that, p50': 10,
    '20 changes/s: from the answer to that, p99': 50,
    '20 changes/s: requests per written companion': 1,
    'rollout: writes per second': WRITES_PER_SECOND,
    'labels of all namespaces: all companions written after': bareCreationSeconds + 2,
    'labels of all namespaces: the same without waits for a core': 50,
    'idle: CPU of one core': 0.5,
    'peak memory of all phases': peakMb,
  };
}

/** Creates a NetworkPolicy for each workload, and for the one that is rolled out. */
async function createSources(bench: Bench, fleet: Fleet): Promise<void> {
  const { local } = bench;
  await createNamespaces(local, fleet.namespaces);
  await relabel(bench, fleet, OPEN);
  const workloads = new Map([...fleet.members, ...fleet.recruit(ROLLOUT, 1)].map((member) => [setOf(member), member]));
  await inParallel([...workloads.values()], CONNECTIONS, ({ namespace, app }) => {
    const namespaceSelector = { matchLabels: { [clusterSetLabel]: 'c2', stage: OPEN } };
    const from = [{ namespaceSelector, podSelector: { matchLabels: { app } } }];
    return local.api.admin.create(pathOf(namespace), networkPolicy({ namespace, name: app }, from));
  });
}

/**
 * What the API server alone takes for companions like those of a fleet: to create all, 16 at a time, as our program writes
 * by default (`-write-concurrency`), and for single updates, 20 a second, until the bench's watch sees them. They are gone
 * afterwards.
 */
async function bareWrites(
  bench: Bench,
  fleet: Fleet,
  changes: number,
): Promise<{ creationSeconds: number; fact: string }> {
  const { admin } = bench.local.api;
  const objects = Array.from(expectedNets(fleet.members), ([key, nets]) => {
    const [namespace = '', app = ''] = key.split('/');
    const name = `${app}-bare`;
    const annotations = { [companionSourceKey]: name };
    return { metadata: { namespace, name, labels: { [companionLabel]: 'bench' }, annotations }, nets: [...nets] };
  });
  const startMs = performance.now();
  await inParallel(objects, CONNECTIONS, ({ metadata, nets }) =>
    admin.create(pathOf(metadata.namespace), networkPolicy(metadata, peersOf(nets))),
  );
  const creationSeconds = (performance.now() - startMs) / 1000;
  const ms = await atRate(objects.slice(0, changes), CHANGES_PER_SECOND, async ({ metadata, nets }) => {
    const { namespace, name } = metadata;
    const item = `${fleet.nextAddress()}/32`;
    const object = networkPolicy(metadata, peersOf([item, ...nets.slice(1)]));
    const sentAtMs = performance.now();
    const seen = bench.watch.seen(`${namespace}/${name}`, item, { signal: AbortSignal.timeout(60_000) });
    const [seenAtMs] = await Promise.all([seen, send(admin, 'PUT', `${pathOf(namespace)}/${name}`, object)]);
    return seenAtMs - sentAtMs;
  });
  await removeAll(bench, companions.collections(fleet));
  const fact =
    `bare writes of companions: all created in ${creationSeconds.toFixed(2)} s; ` +
    `20 updates/s seen after ${percentile(ms, 50).toFixed(1)} ms (p50), ${percentile(ms, 99).toFixed(1)} ms (p99)`;
  return { creationSeconds, fact };
}

/**
 * A phase: takes a label from all remote namespaces, and gives it back. Every policy selects nothing any more, and then what it
 * selected before.
 *
 * @param port of the program's health server
 */
export function reevaluation(bench: Bench, fleet: Fleet, port: number): Course['more'] {
  return { name: 'labels of all remote namespaces', run: (program) => reevaluate(bench, fleet, program, port) };
}

async function reevaluate(bench: Bench, fleet: Fleet, program: Program, port: number): Promise<Figures> {
  const { watch } = bench;
  const expected = expectedNets(fleet.members);
  const signal = within(program);
  const closeAndOpen = async (): Promise<number> => {
    const nothing = new Map(Array.from(expected.keys(), (key) => [key, new Set<string>()]));
    await Promise.all([watch.complete(nothing, { signal }), relabel(bench, fleet, CLOSED)]);
    const startMs = performance.now();
    const [{ allAtMs }] = await Promise.all([watch.complete(expected, { signal }), relabel(bench, fleet, OPEN)]);
    return (allAtMs - startMs) / 1000;
  };
  const { result: seconds, longestMs, longestRunningMs } = await whileProbed(program, port, closeAndOpen);
  return {
    'labels of all namespaces: all companions written after': [seconds, 's'],
    // The event loop was held up for almost that long.
    'labels of all namespaces: longest answer of /healthz': [longestMs, 'ms'],
    'labels of all namespaces: the same without waits for a core': [longestRunningMs, 'ms'],
  };
}

async function relabel({ remote }: Bench, { namespaces }: Fleet, stage: string): Promise<void> {
  const metadata = { labels: { stage } };
  await inParallel(namespaces, CONNECTIONS, (name) =>
    send(remote.api.admin, 'PATCH', `/api/v1/namespaces/${name}`, { metadata }),
  );
}

function networkPolicy(metadata: KubeObject['metadata'], from: readonly object[]): KubeObject {
  const spec = {
    podSelector: {},
    policyTypes: ['Ingress'],
    ingress: [{ from, ports: [{ protocol: 'TCP', port: 8080 }] }],
  };
  return { apiVersion: API, kind: 'NetworkPolicy', metadata, spec };
}

const peersOf = (nets: readonly string[]): object[] => nets.map((cidr) => ({ ipBlock: { cidr } }));

function readCompanion({ metadata: { namespace, annotations }, ...object }: KubeObject): Holding {
  const { ingress = [] } = object['spec'] as { ingress?: { from: { ipBlock?: { cidr: string } }[] }[] };
  const items = ingress.flatMap(({ from }) => from.flatMap(({ ipBlock }) => ipBlock?.cidr ?? []));
  return { key: `${namespace}/${annotations?.[companionSourceKey]}`, items };
}
