import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { clusterSetLabel, companionLabel, companionSourceKey } from '@kube-semaphore/network-policies';
import { deployedRights, rulesOf } from '@kube-semaphore/testkit';
import { type BenchCluster, CONNECTIONS, createNamespaces, type Rights } from '../load/clusters.ts';
import type { Holding } from '../measure/holdings.ts';
import type { Watched } from '../measure/local-watch.ts';
import { atRate, inParallel } from '../measure/pace.ts';
import { type Program, within } from '../measure/program.ts';
import { summarize, type Summary } from '../measure/summary.ts';
import { type Bench, whenSeen } from '../phases/bench.ts';
import { CHANGES_PER_SECOND } from '../phases/propagation.ts';
import { whenComplete } from '../phases/when-complete.ts';
import { type PolicyBench, send } from './bench.ts';
import { expectedNets, type Fleet, setOf } from './fleet.ts';
import type { LongestAnswers, Probed } from './health-probe.ts';
import { ROLLOUT } from './roll-out.ts';

/** Each NetworkPolicy admits the Pods of one workload from namespaces with the label `stage: open`. */
const OPEN = 'open';
const CLOSED = 'closed';

const API = 'networking.k8s.io/v1';
const everywhere = `/apis/${API}/networkpolicies`;
const pathOf = (namespace: string): string => `/apis/${API}/namespaces/${namespace}/networkpolicies`;

/** The local companions, by the NetworkPolicy that they extend, which has the name of its workload: `setOf`. */
export const watchedCompanions: Watched = { [everywhere]: readCompanion };

export const networkPolicyRights: Rights = {
  remote: rulesOf(deployedRights('policy/remote', 'policy/components/remote-namespaces')),
  local: rulesOf(deployedRights('policy/base', 'policy/components/network-policies')),
};

/** Creates a NetworkPolicy for each workload, and for the one that is rolled out. */
export async function createSources({ remote, local }: Bench, fleet: Fleet): Promise<void> {
  await createNamespaces(local, fleet.namespaces);
  await relabel(remote, fleet, OPEN);
  const workloads = new Map([...fleet.members, ...fleet.recruit(ROLLOUT, 1)].map((member) => [setOf(member), member]));
  await inParallel([...workloads.values()], CONNECTIONS, ({ namespace, app }) => {
    const namespaceSelector = { matchLabels: { [clusterSetLabel]: 'c2', stage: OPEN } };
    const from = [{ namespaceSelector, podSelector: { matchLabels: { app } } }];
    return local.api.admin.create(pathOf(namespace), networkPolicy({ namespace, name: app }, from));
  });
}

/** Deletes all companions, and keeps what they extend. */
export async function removeCompanions({ watch, local }: Pick<Bench, 'watch' | 'local'>): Promise<void> {
  const { admin } = local.api;
  const policies = await admin.list(everywhere);
  const companions = policies.filter(({ metadata }) => metadata.labels?.[companionLabel] !== undefined);
  // A slow watch would seem empty before it saw the last object.
  await watch.holding(policies.length);
  await inParallel(companions, CONNECTIONS, ({ metadata: { namespace, name } }) =>
    admin.delete(`${pathOf(namespace!)}/${name}`),
  );
  await watch.holding(policies.length - companions.length);
}

/** What the API server alone takes for companions. */
export type BareWrites = {
  /** To create all, 16 at a time, as our program writes by default (`-write-concurrency`). */
  readonly creationSeconds: number;
  /** Milliseconds of single updates, 20 a second, until the bench's watch sees them. */
  readonly updates: Summary;
};

/** Creates companions like those of a fleet, updates some, and deletes all. */
export async function bareWrites(bench: PolicyBench, changes: number): Promise<BareWrites> {
  const { admin } = bench.local.api;
  const objects = Array.from(expectedNets(bench.fleet.members), ([key, nets]) => {
    const [namespace, app] = key.split('/') as [string, string];
    const metadata = {
      namespace,
      name: `${app}-bare`,
      labels: { [companionLabel]: 'bench' },
      annotations: { [companionSourceKey]: `${app}-bare` },
    };
    return { key: `${key}-bare`, metadata, nets: [...nets] };
  });
  const startMs = performance.now();
  await inParallel(objects, CONNECTIONS, ({ metadata, nets }) =>
    admin.create(pathOf(metadata.namespace), networkPolicy(metadata, peersOf(nets))),
  );
  const creationSeconds = (performance.now() - startMs) / 1000;
  const times = await atRate(objects.slice(0, changes), { perSecond: CHANGES_PER_SECOND }, async (each) => {
    const { key, metadata, nets } = each;
    const item = `${bench.fleet.nextAddress()}/32`;
    const path = `${pathOf(metadata.namespace)}/${metadata.name}`;
    const sentAtMs = performance.now();
    const seen = whenSeen(bench.watch, { key, item }, { signal: AbortSignal.timeout(60_000) });
    const [, seenAtMs] = await Promise.all([
      send(bench.local, 'PUT', path, networkPolicy(metadata, peersOf([item, ...nets.slice(1)]))),
      seen,
    ]);
    return seenAtMs - sentAtMs;
  });
  await removeCompanions(bench);
  return { creationSeconds, updates: summarize(times) };
}

/** Every policy selects nothing any more, and then what it selected before. */
export type Reevaluation = {
  /** From the labels of the remote namespaces until all companions were seen again. */
  readonly seconds: number;
  /** Of /healthz meanwhile: the event loop was held up for almost that long. */
  readonly answers: LongestAnswers;
};

/** Takes a label from all remote namespaces, and gives it back. */
export async function reevaluation(bench: PolicyBench, program: Program, port: number): Promise<Reevaluation> {
  const { remote, fleet, watch } = bench;
  const expected = expectedNets(fleet.members);
  const signal = within(program);
  const probe = new Worker(new URL('./health-probe.ts', import.meta.url), {
    workerData: { pid: program.pid, port } satisfies Probed,
  });
  const answered = once(probe, 'message', { signal });
  await once(probe, 'online', { signal });
  const closeAndOpen = async (): Promise<number> => {
    const gone = whenComplete(watch, new Map(Array.from(expected.keys(), (key) => [key, new Set()])), { signal });
    await Promise.all([gone, relabel(remote, fleet, CLOSED)]);
    const startMs = performance.now();
    const complete = whenComplete(watch, expected, { signal });
    const [{ allAtMs }] = await Promise.all([complete, relabel(remote, fleet, OPEN)]);
    return (allAtMs - startMs) / 1000;
  };
  const [seconds, [answers]] = await Promise.all([
    closeAndOpen().finally(() => probe.postMessage('end')),
    answered as Promise<[LongestAnswers]>,
  ]);
  return { seconds, answers };
}

async function relabel(remote: BenchCluster, { namespaces }: Fleet, stage: string): Promise<void> {
  const metadata = { labels: { stage } };
  await inParallel(namespaces, CONNECTIONS, (name) =>
    send(remote, 'PATCH', `/api/v1/namespaces/${name}`, { metadata }),
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

function readCompanion({ metadata: { namespace, name, annotations }, ...object }: KubeObject): Holding {
  const { ingress = [] } = object['spec'] as { ingress?: { from: { ipBlock?: { cidr: string } }[] }[] };
  const items = ingress.flatMap(({ from }) => from.flatMap(({ ipBlock }) => ipBlock?.cidr ?? []));
  return { key: `${namespace}/${annotations?.[companionSourceKey] ?? name}`, items };
}
