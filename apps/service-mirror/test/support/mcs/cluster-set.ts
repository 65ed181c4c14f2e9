import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { type FaultProxy, startFaultProxy } from '@kube-semaphore/fault-proxy';
import { deployedCrds, endpointSlice, service, type ServiceOptions, startCluster } from '@kube-semaphore/testkit';
import { createMcsAccounts } from '../accounts.ts';
import { type MirrorProcess, MIRRORS, spawnMirror } from '../mirror-process.ts';
import { requestsOf } from '../requests.ts';

const GROUP = 'multicluster.x-k8s.io';
/** A condition as `Valid=True Valid`. */
type Conditions = readonly string[];

export type ServiceImport = KubeObject & {
  readonly spec: Readonly<Record<string, unknown>> & { readonly ips?: readonly string[] };
  readonly status?: { readonly clusters?: readonly { readonly cluster: string }[]; readonly [field: string]: unknown };
};

/** A cluster of a set, with a program that imports the exports of all of them. */
export class SetMember {
  readonly cluster: TestCluster;
  readonly #spawn: Spawn;
  #mirror: MirrorProcess | undefined;
  #isRunning = false;

  constructor(cluster: TestCluster, spawn: Spawn) {
    this.cluster = cluster;
    this.#spawn = spawn;
  }

  get mirror(): MirrorProcess {
    if (this.#mirror === undefined) throw new Error(`the program of ${this.cluster.name} wasn't started`);
    return this.#mirror;
  }

  /** Whether its program was started, and hasn't ended. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  async start(more: Start = {}): Promise<void> {
    const argv = ['-listen-address=127.0.0.1:0', '-log-level=debug', ...(more.flags ?? [])];
    const mirror = await this.#spawn(argv, more);
    this.#mirror = mirror;
    this.#isRunning = true;
    void mirror.exited.then(() => {
      if (this.#mirror === mirror) this.#isRunning = false;
    });
    await (more.ready === false ? mirror.logged('started') : mirror.ready());
  }

  /** Runs a subcommand to its end. */
  async run(argv: readonly string[], more?: Start): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const program = await this.#spawn(argv, more ?? {});
    const { code } = await program.exited;
    return { code, stdout: program.stdout(), stderr: program.stderr() };
  }

  async stop(): Promise<void> {
    await this.#mirror?.stop('SIGKILL');
    this.#mirror = undefined;
    this.#isRunning = false;
  }

  /** Requests of the program that change something. */
  writes(): Promise<number> {
    return requestsOf(this.mirror, ['POST', 'PUT', 'PATCH', 'DELETE']);
  }

  async createNamespace(name: string): Promise<void> {
    await this.cluster.admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }

  /** Creates `shop/<name>`, with a slice of these addresses. */
  async createService(
    name: string,
    endpoints: readonly string[],
    options: Partial<ServiceOptions> = {},
  ): Promise<void> {
    const { admin } = this.cluster;
    await admin.create('/api/v1/namespaces/shop/services', service({ namespace: 'shop', ...options, name }));
    await admin.create(
      '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices',
      endpointSlice({ namespace: 'shop', name: `${name}-x1`, service: name, endpoints, labels: options.labels ?? {} }),
    );
  }

  async deleteService(name: string): Promise<void> {
    await this.cluster.admin.delete(`/api/v1/namespaces/shop/services/${name}`);
    const slice = `/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/${name}-x1`;
    await this.cluster.admin.request('DELETE', slice);
  }

  async setEndpoints(name: string, addresses: readonly string[]): Promise<void> {
    const { status } = await this.cluster.admin.request(
      'PATCH',
      `/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/${name}-x1`,
      { endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })) },
    );
    if (status !== 200) throw new Error(`slice ${name}-x1 not patched: ${status}`);
  }

  async createExport(name: string, spec: object = {}): Promise<void> {
    await this.cluster.admin.create(pathOf('serviceexports'), {
      apiVersion: `${GROUP}/v1beta1`,
      kind: 'ServiceExport',
      metadata: { name },
      spec,
    });
  }

  /** Creates a Service, and exports it. */
  async export(name: string, endpoints: readonly string[], options: Partial<ServiceOptions> = {}): Promise<void> {
    await this.createService(name, endpoints, options);
    await this.createExport(name);
  }

  async unexport(name: string): Promise<void> {
    await this.cluster.admin.delete(`${pathOf('serviceexports')}/${name}`);
  }

  async conditions(name: string): Promise<Conditions> {
    const { status } = await this.cluster.admin.get(`${pathOf('serviceexports')}/${name}`);
    const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string; reason: string }[] };
    return conditions.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);
  }

  /** Undefined if there isn't one. */
  async import(name: string): Promise<ServiceImport | undefined> {
    const { status, body } = await this.cluster.admin.request('GET', `${pathOf('serviceimports')}/${name}`);
    return status === 200 ? (body as unknown as ServiceImport) : undefined;
  }

  /** The clusters of an import's status; undefined if there is no import. */
  async importedFrom(name: string): Promise<readonly string[] | undefined> {
    const found = await this.import(name);
    return found && (found.status?.clusters ?? []).map(({ cluster }) => cluster);
  }

  /** The derived Services of `shop`. */
  async derived(namespace = 'shop'): Promise<readonly KubeObject[]> {
    const selector = encodeURIComponent('multicluster.kubernetes.io/service-name');
    return this.cluster.admin.list(`/api/v1/namespaces/${namespace}/services?labelSelector=${selector}`);
  }

  /** The addresses behind an import, by the source cluster. */
  async addresses(name: string, namespace = 'shop'): Promise<Readonly<Record<string, readonly string[]>>> {
    const selector = encodeURIComponent(`multicluster.kubernetes.io/service-name=${name}`);
    const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=${selector}`;
    const slices = (await this.cluster.admin.list(path)) as unknown as (KubeObject & {
      endpoints?: { addresses: string[]; conditions: { ready?: boolean } }[] | null;
    })[];
    const found = slices.map(({ metadata, endpoints }) => {
      const ready = (endpoints ?? []).filter(({ conditions }) => conditions.ready !== false);
      const cluster = metadata.labels?.['multicluster.kubernetes.io/source-cluster'] ?? '';
      return [cluster, ready.flatMap(({ addresses }) => addresses)] as const;
    });
    return Object.fromEntries(found);
  }
}

/** Starts a program with the config of a cluster. */
type Spawn = (argv: readonly string[], more: Start) => Promise<MirrorProcess>;

/** How a start differs from the usual. */
export type Start = {
  /** The section `mcs`; null: none. */
  readonly mcs?: object | null;
  /** The remotes of the config. Default: all. */
  readonly remotes?: readonly string[];
  /** Fields of all remotes. */
  readonly ofRemotes?: object;
  /** More fields of the section `global`. */
  readonly global?: object;
  readonly flags?: readonly string[];
  /** Whether to wait until it is ready, which a lost remote delays by 30 s. Default: true. */
  readonly ready?: boolean;
};

export type SetOptions = {
  readonly names: readonly string[];
  /** Those that get no kinds. */
  readonly withoutKinds?: readonly string[];
  /** Those with the kinds of mcs-api v0.5.0, whose imports don't say where their slices are. */
  readonly withoutStatusOfSlices?: readonly string[];
};

/**
 * Clusters with the namespace `shop`, the kinds, and a way to start the program of each. It reaches each cluster, its own
 * too, by a proxy of its own.
 */
export async function startSet({ names, withoutKinds = [], withoutStatusOfSlices = [] }: SetOptions) {
  const crds = deployedCrds('service-mirror/mcs');
  const clusters = await Promise.all(names.map((name) => startCluster({ name })));
  const processes: MirrorProcess[] = [];
  const each = await Promise.all(
    clusters.map(async (cluster) => {
      const isOlder = withoutStatusOfSlices.includes(cluster.name);
      for (const crd of withoutKinds.includes(cluster.name) ? [] : crds)
        await cluster.defineResource(isOlder ? withoutField(crd, 'endpointSliceObjects') : crd);
      return { cluster, accounts: await createMcsAccounts(cluster) };
    }),
  );
  const paths = new Map<string, FaultProxy>();
  for (const name of names)
    for (const { cluster } of each) paths.set(`${name} ${cluster.name}`, await startFaultProxy(cluster));
  const path = (from: string, to: string): FaultProxy => paths.get(`${from} ${to}`)!;
  /** The config file of a cluster's program. */
  const configOf = async (name: string, { mcs = {}, ofRemotes = {}, global = {}, remotes = names }: Start = {}) => {
    const local = each.find(({ cluster }) => cluster.name === name)!;
    const others = each.filter(({ cluster }) => cluster.name !== name && remotes.includes(cluster.name));
    return {
      global: { mirrorSvcLabelSelector: 'mirror=true', mirrorNamespace: MIRRORS, ...global },
      localCluster: { name, kubeConfigPath: await path(name, name).kubeconfig(local.accounts.local) },
      ...(mcs !== null && { mcs }),
      remoteClusters: await Promise.all(
        others.map(async ({ cluster, accounts }) => ({
          name: cluster.name,
          kubeConfigPath: await path(name, cluster.name).kubeconfig(accounts.remote),
          servicePrefix: cluster.name,
          ...ofRemotes,
        })),
      ),
    };
  };
  const members = clusters.map(
    (cluster) =>
      new SetMember(cluster, async (argv, more) => {
        const config = join(cluster.dir, `service-mirror-${processes.length}.json`);
        await writeFile(config, JSON.stringify(await configOf(cluster.name, more)));
        const [first = '', ...rest] = argv;
        const mirror = spawnMirror(
          first.startsWith('-') ? [`-config=${config}`, ...argv] : [first, `-config=${config}`, ...rest],
        );
        processes.push(mirror);
        return mirror;
      }),
  );
  for (const member of members) await member.createNamespace('shop');
  const define = async (name: string, plural = ''): Promise<void> => {
    for (const crd of crds.filter(({ metadata }) => metadata.name.startsWith(plural)))
      await clusters.find((cluster) => cluster.name === name)!.defineResource(crd);
  };
  /** The program of `from` can't reach `to` from now on, until `path(from, to)` is cleared. */
  const lose = async (from: string, to: string): Promise<void> => {
    await path(from, to).set({ kind: 'refuse' });
    await path(from, to).set({ kind: 'reset', connections: 'open' });
  };
  const stop = async (): Promise<void> => {
    await Promise.all(processes.map((mirror) => mirror.stop('SIGKILL')));
    await Promise.all([...paths.values()].map((proxy) => proxy.stop()));
    await Promise.all(clusters.map((cluster) => cluster.stop()));
  };
  return { members, path, configOf, lose, define, stop, output: () => processes.map(({ stderr }) => stderr()) };
}

/** A definition whose schema lacks a field, wherever it is. */
const withoutField = (crd: KubeObject, field: string): KubeObject =>
  JSON.parse(JSON.stringify(crd), (key, value: unknown) => (key === field ? undefined : value)) as KubeObject;

const pathOf = (plural: string): string => `/apis/${GROUP}/v1beta1/namespaces/shop/${plural}`;
