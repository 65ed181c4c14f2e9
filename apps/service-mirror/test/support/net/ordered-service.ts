import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type EmbeddedCluster, startEmbeddedCluster, type TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import {
  deployedCrds,
  endpointSlice,
  node as nodeObject,
  service,
  startKubeProxy,
  startRealCluster,
} from '@kube-semaphore/testkit';
import { type Place, startNetwork } from '@kube-semaphore/testnet';
import { test } from 'vitest';
import { globalServiceName } from '@kube-semaphore/service-mirror/names';
import { type MirrorProcess, MIRRORS, spawnMirror } from '../mirror-process.ts';
import { ZONE } from './it.ts';
import { openConnection, openFlow, serve, whoAnswers } from './programs.ts';

const MODES = ['nftables', 'iptables'] as const;
const CLUSTERS = ['c1', 'c2', 'c3'] as const;
type ClusterName = (typeof CLUSTERS)[number];

/** What an endpoint's own cluster says of it. */
const STATES = {
  ready: { ready: true, serving: true, terminating: false },
  leaving: { ready: false, serving: true, terminating: true },
  broken: { ready: false, serving: false, terminating: false },
} as const;
type State = keyof typeof STATES;

/** A program imports nothing into `default`. */
const NAMESPACE = 'shop';
const SLICES = `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`;
const MCS = `/apis/multicluster.x-k8s.io/v1beta1/namespaces/${NAMESPACE}`;
const CONFIG_MAPS = `/api/v1/namespaces/${MIRRORS}/configmaps`;
const PORTS = [
  { name: 'http', port: 80, targetPort: 8080 },
  { name: 'dns', protocol: 'UDP', port: 53, targetPort: 8080 },
];

/** An address of a Service, as a client on a node with one mode of kube-proxy has it. */
type Way = { readonly name: string; readonly client: Place; readonly address: string };

/**
 * A test with the cluster c1, which has a node with each mode of kube-proxy, and with the remotes c2 and c3, whose API servers are
 * embedded. Each has one pod, of its name: no controller writes slices.
 */
export const it = test
  .extend('modes', { scope: 'file' }, MODES)
  .extend('lab', { scope: 'file' }, async ({ modes }, { onCleanup }) => {
    const started: { readonly stop: () => Promise<void> }[] = [];
    onCleanup(async () => {
      for (const each of started.toReversed()) await each.stop();
    });
    const begin = async <T extends { readonly stop: () => Promise<void> }>(starting: Promise<T>): Promise<T> => {
      const each = await starting;
      started.push(each);
      return each;
    };
    const network = await begin(startNetwork());
    const local = await begin(startRealCluster({ name: 'c1', controllerManager: [] }));
    const [c2, c3] = [
      await begin(startEmbeddedCluster({ name: 'c2' })),
      await begin(startEmbeddedCluster({ name: 'c3' })),
    ];
    const clusters: Readonly<Record<ClusterName, TestCluster>> = { c1: local, c2, c3 };
    for (const cluster of Object.values(clusters))
      for (const crd of deployedCrds('service-mirror/mcs')) await cluster.defineResource(crd);
    for (const { admin } of Object.values(clusters)) await createNamespace(admin, NAMESPACE);
    await createNamespace(local.admin, MIRRORS);
    const pods = await network.addNode('pods');
    for (const [i, name] of CLUSTERS.entries()) await serve(await pods.addPod([addressOf(name, i)]), name);
    const clients: Record<string, Place> = {};
    for (const [i, mode] of modes.entries()) {
      const node = await network.addNode(mode);
      await node.forward(Number(new URL(local.url).port));
      await local.admin.create('/api/v1/nodes', nodeObject({ name: mode, zone: ZONE, internalIPs: [node.ipv4] }));
      await node.run('ip', ['route', 'add', '10.4.0.0/16', 'via', pods.ipv4]);
      await pods.run('ip', ['route', 'add', `10.3.${i}.0/24`, 'via', node.ipv4]);
      await begin(startKubeProxy({ cluster: local, node, clusterCidr: '10.3.0.0/16', mode }));
      clients[mode] = await node.addPod([`10.3.${i}.99`]);
    }
    const proxy = await begin(startFaultProxy(c2));
    return { clusters, clients, proxy, readers: { c2: await readerOf(c2), c3: await readerOf(c3) } };
  })
  .extend('start', ({ lab: { clusters, proxy, readers } }, { onCleanup }) => {
    const started: MirrorProcess[] = [];
    onCleanup(async () => void (await Promise.all(started.map((mirror) => mirror.stop('SIGKILL')))));
    return async (): Promise<MirrorProcess> => {
      const path = join(clusters.c1.dir, 'service-mirror.json');
      const file = {
        global: {
          mirrorSvcLabelSelector: 'mirror=true',
          globalSvcLabelSelector: 'global=true',
          mirrorNamespace: MIRRORS,
        },
        mcs: {},
        localCluster: { name: 'c1', zones: [ZONE], kubeConfigPath: clusters.c1.adminKubeconfig },
        remoteClusters: [
          { name: 'c2', servicePrefix: 'c2', kubeConfigPath: await proxy.kubeconfig(readers.c2) },
          { name: 'c3', servicePrefix: 'c3', kubeConfigPath: readers.c3.kubeconfig },
        ],
      };
      await writeFile(path, JSON.stringify(file));
      const mirror = spawnMirror([`-config=${path}`, '-listen-address=127.0.0.1:0']);
      started.push(mirror);
      await mirror.ready();
      return mirror;
    };
  })
  .extend('ordered', ({ lab: { clusters, clients } }) => {
    /** A Service of all clusters, global and exported, whose endpoints are all ready. Its app runs. */
    return async (name: string, annotations: Readonly<Record<string, string>>, spec: object = {}) => {
      const set = async (cluster: ClusterName, ...states: readonly State[]): Promise<void> => {
        const { admin } = clusters[cluster];
        const object = sliceOf(cluster, name, states);
        const path = `${SLICES}/${object.metadata.name}`;
        const { status } = await admin.request('GET', path);
        if (status === 404) await admin.create(SLICES, object);
        else await admin.request('PATCH', path, { endpoints: object['endpoints'] });
      };
      for (const cluster of CLUSTERS) {
        const { admin } = clusters[cluster];
        const labels = { global: 'true' };
        const object = service({
          name,
          namespace: NAMESPACE,
          labels,
          annotations,
          ports: PORTS,
          selector: null,
          spec: { ...spec },
        });
        await admin.create(`/api/v1/namespaces/${NAMESPACE}/services`, object);
        await set(cluster, 'ready');
        const kind = { apiVersion: 'multicluster.x-k8s.io/v1beta1', kind: 'ServiceExport' };
        await admin.create(`${MCS}/serviceexports`, { ...kind, metadata: { name } });
      }
      const { admin } = clusters.c1;
      const addresses = {
        global: () => ipOf(admin, `/api/v1/namespaces/${MIRRORS}/services/${globalServiceName(NAMESPACE, name)}`),
        import: () => ipOf(admin, `${MCS}/serviceimports/${name}`),
      };
      const ways: Way[] = [];
      for (const [kind, find] of Object.entries(addresses)) {
        const address = await eventually(find, (found): found is string => found !== undefined, {
          what: `the ${kind}`,
        });
        for (const [mode, client] of Object.entries(clients)) ways.push({ name: `${kind}, ${mode}`, client, address });
      }
      const answers = async () =>
        Object.fromEntries(
          await Promise.all(
            ways.map(async (way) => [way.name, (await whoAnswers(way.client, way.address, 80)).join(' ')] as const),
          ),
        );
      /** Waits until exactly these clusters answer at both addresses, in both modes. */
      const answeredBy = async (...names: readonly ClusterName[]): Promise<void> => {
        await eventually(answers, Object.fromEntries(ways.map((way) => [way.name, names.join(' ')])));
      };
      return {
        set,
        ways,
        answers,
        answeredBy,
        connections: () => ways.map(({ client, address }) => openConnection(client, address, 80)),
        flows: () => ways.map(({ client, address }) => openFlow(client, address, 53)),
      };
    };
  })
  .extend('drain', ({ lab: { clusters } }, { onCleanup }) => {
    const { admin } = clusters.c1;
    onCleanup(() => admin.delete(`${CONFIG_MAPS}/semaphore-drains`));
    /** Drains these clusters, and no others. */
    return async (...names: readonly ClusterName[]): Promise<void> => {
      const data = Object.fromEntries(CLUSTERS.map((name) => [name, names.includes(name) ? 'by a test' : null]));
      const { status } = await admin.request('PATCH', `${CONFIG_MAPS}/semaphore-drains`, { data });
      if (status !== 404) return;
      const metadata = { name: 'semaphore-drains' };
      const kept = Object.fromEntries(names.map((name) => [name, 'by a test']));
      await admin.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: kept });
    };
  });

const addressOf = (cluster: ClusterName, place: number): string => `10.4.${cluster.slice(1)}.${place + 1}`;

const createNamespace = (admin: TestCluster['admin'], name: string) =>
  admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

const readerOf = (cluster: EmbeddedCluster) =>
  cluster.account('reader', [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }]);

/** A cluster's slice: all of its endpoints are its one pod. */
function sliceOf(cluster: ClusterName, name: string, states: readonly State[]) {
  return endpointSlice({
    name: `${name}-x1`,
    namespace: NAMESPACE,
    service: name,
    labels: { global: 'true', 'endpointslice.kubernetes.io/managed-by': 'test' },
    ports: PORTS.map(({ name: port, protocol = 'TCP' }) => ({ name: port, port: 8080, protocol })),
    endpoints: states.map((state) => ({
      addresses: [addressOf(cluster, CLUSTERS.indexOf(cluster))],
      conditions: STATES[state],
    })),
  });
}

async function ipOf(admin: TestCluster['admin'], path: string): Promise<string | undefined> {
  const { status, body } = await admin.request('GET', path);
  const { clusterIP, ips } = (body['spec'] ?? {}) as { clusterIP?: string; ips?: readonly string[] };
  return status === 200 ? (clusterIP ?? ips?.[0]) : undefined;
}
