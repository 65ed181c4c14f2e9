import { dirname } from 'node:path';
import { callPrograms, Calls } from '@kube-semaphore/e2e';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import {
  createPod,
  deletePod,
  endpointSlice,
  builtBinary,
  globalNetworkSetCrd,
  node as nodeObject,
  pod,
  type Program,
  type RealCluster,
  service,
  spawnProgram,
  startKubeProxy,
  startRealCluster,
} from '@kube-semaphore/testkit';
import { ask, type NetworkNode, type Place as NetworkPlace, startNetwork } from '@kube-semaphore/testnet';
import type { App, Programs } from '../programs.ts';
import { commandLines, type Place } from './command-lines.ts';
import {
  type ClusterName,
  clusterNames,
  MCS,
  MIRRORS,
  podRange,
  POLICIES,
  selected,
  SETS,
  SHOP,
  SLICES,
} from './names.ts';
import { Release } from './release.ts';
import { type State, stateOf } from './state.ts';

/** To each of three addresses: 50 calls a second in all. */
const INTERVAL_MS = 60;

/** A busy machine answers late. A call that leads nowhere fails after any time. */
const TIMEOUT_MS = 30_000;

/** Calls work again after so many answers in a row of each address. */
const WELL = 50;

/** It counts what the ResourceQuota of the charts limits: until then, nothing can be created. */
const controllerManager = ['resourcequota-controller'];

/** A NetworkPolicy of c1 that names the app of c2. */
const policy = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'db' },
  spec: {
    podSelector: { matchLabels: { app: 'db' } },
    ingress: [
      {
        from: [
          {
            namespaceSelector: {
              matchLabels: { 'cluster.clusterset.k8s.io': 'c2', 'kubernetes.io/metadata.name': SHOP },
            },
            podSelector: { matchLabels: { app: 'web' } },
          },
        ],
      },
    ],
  },
};

/** The calls that began while something happened. */
export type Outcome = { readonly calls: number; readonly seconds: number; readonly failed: readonly object[] };

/**
 * Two clusters with a node each, all objects of the charts, and the apps as processes, with leader election as in deploy/. A Pod
 * of c1 calls the app of c2 by a mirror, a global Service and an import, through kube-proxy and a tunnel.
 */
export class UpgradeLab {
  readonly #clusters: Readonly<Record<ClusterName, RealCluster>>;
  readonly #nodes: Readonly<Record<ClusterName, NetworkNode>>;
  readonly #releases: Readonly<Record<ClusterName, Release>>;
  readonly #commandLines: ReadonlyMap<Place, readonly string[]>;
  readonly #stops: readonly (() => Promise<unknown>)[];
  readonly #running = new Map<Place, Program>();
  /** The Services of c2's app, whose endpoints are equal. */
  readonly #services: string[] = [];
  #calls: readonly Calls[] = [];

  private constructor(
    clusters: Readonly<Record<ClusterName, RealCluster>>,
    nodes: Readonly<Record<ClusterName, NetworkNode>>,
    releases: Readonly<Record<ClusterName, Release>>,
    lines: ReadonlyMap<Place, readonly string[]>,
    stops: readonly (() => Promise<unknown>)[],
  ) {
    this.#clusters = clusters;
    this.#nodes = nodes;
    this.#releases = releases;
    this.#commandLines = lines;
    this.#stops = stops;
  }

  /** Starts all but the apps, with the charts of a version in both clusters. Needs root. */
  static async start(charts: string): Promise<UpgradeLab> {
    const stops: (() => Promise<unknown>)[] = [];
    const begin = async <T extends { stop: () => Promise<unknown> }>(starting: Promise<T>): Promise<T> => {
      const each = await starting;
      stops.unshift(() => each.stop());
      return each;
    };
    try {
      const network = await begin(startNetwork(clusterNames));
      const nodes = { c1: network.node('c1'), c2: network.node('c2') };
      const clusters = {
        c1: await begin(startRealCluster({ name: 'c1', controllerManager })),
        c2: await begin(startRealCluster({ name: 'c2', controllerManager })),
      };
      const releases = { c1: new Release('c1', clusters.c1), c2: new Release('c2', clusters.c2) };
      for (const name of clusterNames) {
        await prepare(clusters[name], nodes[name], podRange[name]);
        await releases[name].upgrade(charts);
        for (const { url } of Object.values(clusters)) await nodes[name].forward(Number(new URL(url).port));
      }
      await clusters.c1.admin.create(`${POLICIES}/namespaces/${SHOP}/networkpolicies`, policy);
      await begin(startKubeProxy({ cluster: clusters.c1, node: nodes.c1, clusterCidr: podRange.c1 }));
      return new UpgradeLab(clusters, nodes, releases, await commandLines(clusters), stops);
    } catch (error) {
      for (const stop of stops) await stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await Promise.all(Array.from(this.#running.values(), (program) => program.stop('SIGKILL')));
    for (const stop of this.#stops) await stop();
  }

  /** What the apps said last, for the report of a failure. */
  logs(): string {
    return Array.from(this.#running, ([place, { stderr }]) => `${place}:\n${stderr().slice(-8_000)}`).join('\n');
  }

  /**
   * Starts an app in its clusters, one after the other, in place of the one that runs there. As in the rollout of a Deployment,
   * the new process waits for the Lease before the old one ends; of a DaemonSet, the old one ends first.
   */
  async replace(app: App, programs: Programs): Promise<void> {
    const places = [...this.#commandLines.keys()].filter((place) => place.startsWith(`${app} `));
    for (const place of places) {
      const last = this.#running.get(place);
      const isNodes = app === 'wireguard';
      if (isNodes) await last?.stop();
      const next = this.#spawn(place, programs[app]);
      this.#running.set(place, next);
      await next.ready();
      if (isNodes) continue;
      await last?.stop();
      const metric = `semaphore_${app.replace('-', '_')}_leader`;
      await eventually(() => next.metric(metric), 1, { what: `the new ${place} to lead` });
    }
  }

  #spawn(place: Place, launcher: string): Program {
    const line = this.#commandLines.get(place)!;
    if (!place.startsWith('wireguard')) return spawnProgram(launcher, line);
    const env = { PATH: `${dirname(builtBinary('wireguard-go'))}:${process.env['PATH']}` };
    return spawnProgram(launcher, line, env, { place: this.#nodes[place.endsWith('c1') ? 'c1' : 'c2'] });
  }

  /** Upgrades all objects of the charts, in one cluster after the other. @param charts the folder of the version */
  async upgrade(charts: string): Promise<void> {
    for (const name of clusterNames) await this.#releases[name].upgrade(charts);
  }

  /** Takes all objects of the charts back, in one cluster after the other. */
  async rollback(): Promise<void> {
    for (const name of clusterNames) await this.#releases[name].rollback();
  }

  /** The UIDs of all objects of the charts. */
  async released(): Promise<Readonly<Record<ClusterName, Readonly<Record<string, string>>>>> {
    return { c1: await this.#releases.c1.objects(), c2: await this.#releases.c2.objects() };
  }

  /** Adds a Service of c2's app: a mirror, global and exported. */
  async addService(name: string, { headless = false } = {}): Promise<void> {
    const { admin } = this.#clusters.c2;
    const options = { name, namespace: SHOP, labels: selected, selector: null, headless };
    await admin.create(`/api/v1/namespaces/${SHOP}/services`, service(options));
    const kind = { apiVersion: 'multicluster.x-k8s.io/v1beta1', kind: 'ServiceExport' };
    await admin.create(`${MCS}/namespaces/${SHOP}/serviceexports`, { ...kind, metadata: { name } });
    this.#services.push(name);
    await this.#writeSlices();
  }

  /** Adds a Pod to c2's app, which answers. */
  async addPod(name: string, host: number): Promise<void> {
    const ip = addressOfPod(host);
    const place = await this.#nodes.c2.addPod([ip]);
    place.spawn(process.execPath, [callPrograms.web], { env: { POD_NAME: name }, stdio: 'inherit' });
    const answers = () =>
      ask(place, 8080, '/').then(
        () => true,
        () => false,
      );
    await eventually(answers, true, { what: `an answer of ${name}` });
    const labels = { app: 'web', 'semaphore.uw.systems/name': 'web' };
    await createPod(this.#clusters.c2.admin, pod({ name, namespace: SHOP, ips: [ip], labels, nodeName: 'c2' }));
    await this.#writeSlices();
  }

  /** Removes a Pod of c2's app. It answers on, as one does that ends well. */
  async removePod(name: string): Promise<void> {
    await deletePod(this.#clusters.c2.admin, { namespace: SHOP, name });
    await this.#writeSlices();
  }

  /** As Kubernetes' controller writes them, which doesn't run. */
  async #writeSlices(): Promise<void> {
    const { admin } = this.#clusters.c2;
    const pods = (await admin.list(`/api/v1/namespaces/${SHOP}/pods`)) as unknown as readonly Pod[];
    const endpoints = pods.map(({ metadata, status }) => ({
      addresses: [status.podIP],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'c2',
      zone: 'z1',
      targetRef: { kind: 'Pod', namespace: SHOP, name: metadata.name, uid: metadata.uid },
    }));
    const path = `${SLICES}/namespaces/${SHOP}/endpointslices`;
    for (const name of this.#services) {
      const object = endpointSlice({ name: `${name}-x1`, namespace: SHOP, service: name, labels: selected, endpoints });
      const { status } = await admin.request('PATCH', `${path}/${object.metadata.name}`, { endpoints });
      if (status === 404) await admin.create(path, object);
    }
  }

  /** Waits until all that the apps write in c1 has exactly the Pods of c2's app with these hosts. */
  async knows(...hosts: readonly number[]): Promise<void> {
    const ips = hosts.map(addressOfPod);
    const known = this.#services.flatMap((name) => ['c2', 'gl', 'import'].map((by) => [`${by} ${name}`, ips] as const));
    const sets = ips.map((ip) => `${ip}/32`);
    await eventually(() => this.#known(), { ...Object.fromEntries(known), sets, companions: ips });
  }

  /** The addresses in the objects of the apps, sorted. */
  async #known(): Promise<Readonly<Record<string, readonly string[]>>> {
    const { admin } = this.#clusters.c1;
    const slices = (await admin.list(`${SLICES}/endpointslices`)) as unknown as readonly Slice[];
    const of = (name: string, label = 'kubernetes.io/service-name') =>
      slices
        .filter(({ metadata }) => metadata.labels?.[label] === name)
        .flatMap(({ endpoints }) => endpoints?.flatMap(({ addresses }) => addresses) ?? [])
        .toSorted();
    const known = this.#services.flatMap((name) => [
      ...(['c2', 'gl'] as const).map((by) => [`${by} ${name}`, of(mirrorOf(by, name))] as const),
      [`import ${name}`, of(name, 'multicluster.kubernetes.io/service-name')] as const,
    ]);
    const sets = (await admin.list(SETS)) as unknown as readonly NetworkSet[];
    const policies = await admin.list(`${POLICIES}/namespaces/${SHOP}/networkpolicies`);
    return {
      ...Object.fromEntries(known),
      sets: sets.flatMap(({ spec }) => spec.nets).toSorted(),
      companions: [...new Set(JSON.stringify(policies).match(/10\.4\.1\.\d+/g))].toSorted(),
    };
  }

  /** Starts the calls, and resolves when they are answered. */
  async call(): Promise<void> {
    const { admin } = this.#clusters.c1;
    const client = await this.#nodes.c1.addPod(['10.2.1.10']);
    const paths = [
      `/api/v1/namespaces/${MIRRORS}/services/${mirrorOf('c2', 'web')}`,
      `/api/v1/namespaces/${MIRRORS}/services/${mirrorOf('gl', 'web')}`,
      `${MCS}/namespaces/${SHOP}/serviceimports/web`,
    ];
    this.#calls = await Promise.all(
      paths.map(async (path) => {
        const address = await eventually(() => addressOf(admin, path), isDefined, { what: `an address of ${path}` });
        return callsFrom(client, `http://${address}/`);
      }),
    );
    await Promise.all(this.#calls.map((calls) => calls.answered(WELL)));
  }

  /** Waits until a Pod answers at each address. */
  async answers(by: string): Promise<void> {
    await Promise.all(this.#calls.map((calls) => calls.one(`an answer of ${by}`, (call) => call.by === by)));
  }

  /** The calls during a change, and until they are answered after it. */
  async during(change: () => Promise<unknown>): Promise<Outcome> {
    const changed = Promise.withResolvers<unknown>();
    const tallies = Promise.all(
      this.#calls.map((calls) =>
        calls.during(async () => {
          await changed.promise;
          await calls.answered(WELL);
        }),
      ),
    );
    change().then(changed.resolve, changed.reject);
    const all = await tallies;
    return {
      calls: all.reduce((sum, { calls }) => sum + calls.length, 0),
      seconds: Math.max(...all.map(({ ms }) => ms)) / 1_000,
      failed: all.flatMap(({ failed }) => failed),
    };
  }

  /** What is there of the apps, in both clusters. */
  state(): Promise<State> {
    return stateOf(this.#clusters, this.#nodes);
  }
}

type Slice = {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly endpoints?: readonly { readonly addresses: readonly string[] }[];
};
type NetworkSet = { readonly spec: { readonly nets: readonly string[] } };
type Pod = {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status: { readonly podIP: string };
};

const addressOfPod = (host: number): string => `10.4.1.${host}`;

const mirrorOf = (prefix: 'c2' | 'gl', name: string): string => `${prefix}-${SHOP}-73736d-${name}`;

/** Adds the kind of Calico, the namespace of the app and the Node of a cluster. */
async function prepare(cluster: RealCluster, { ipv4 }: NetworkNode, range: string): Promise<void> {
  const { admin, name } = cluster;
  await cluster.defineResource(globalNetworkSetCrd('crd.projectcalico.org'));
  await admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SHOP } });
  const podCIDRs = [range.replace('.0.0/16', '.1.0/24')];
  await admin.create('/api/v1/nodes', nodeObject({ name, zone: 'z1', podCIDRs, internalIPs: [ipv4] }));
}

function callsFrom(place: NetworkPlace, url: string): Calls {
  const args = [callPrograms.caller, url, String(INTERVAL_MS), String(TIMEOUT_MS)];
  const caller = place.spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  caller.stdout!.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Calls(() => output);
}

async function addressOf(admin: RealCluster['admin'], path: string): Promise<string | undefined> {
  const { status, body } = await admin.request('GET', path);
  const { clusterIP, ips } = (body['spec'] ?? {}) as { clusterIP?: string; ips?: readonly string[] };
  return status === 200 ? (clusterIP ?? ips?.[0]) : undefined;
}
