import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { type EmbeddedCluster, type KubeObject, startEmbeddedCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { type FaultProxy, startFaultProxy } from '@kube-semaphore/fault-proxy';
import { calicoLink, policyEngines, prepareCalico } from '@kube-semaphore/real-nodes';
import {
  createPod,
  deletePod,
  deployAccount,
  deployPolicies,
  goesWithoutEngines,
  node as nodeObject,
  type RealCluster,
  startRealCluster,
} from '@kube-semaphore/testkit';
import { type Network, type NetworkNode, type Place, startNetwork } from '@kube-semaphore/testnet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterSetLabel as K } from '../../src/names.ts';
import { folders } from '../support/accounts.ts';
import { connections, listen } from '../support/net/connections.ts';
import { type PolicyProcess, spawnPolicy } from '../support/policy-process.ts';
import { hasFailed } from '../support/remote-state.ts';

/*
 * Real engines enforce NetworkPolicies of c1 and their companions on packets. Each engine has a node of c1, and on it the same
 * Pods. Pods of c2 and c3 are elsewhere, so an engine knows them by their addresses only, which semaphore-policy writes. All
 * tests share one system, and each continues where the one before it ended.
 */

const engines = Object.keys(policyEngines) as readonly (keyof typeof policyEngines)[];
type Engine = (typeof engines)[number];

type Labels = Readonly<Record<string, string>>;
type PodSpec = {
  readonly labels: Labels;
  readonly host: number;
  readonly http?: number;
  readonly ports: readonly number[];
};

const CASES_FROM = 7000;
const caseNumbers = Array.from({ length: 14 }, (_, i) => CASES_FROM + i);

/** Pods of the namespace alpha of c1, on each node. */
const localPods: Readonly<Record<string, PodSpec>> = {
  db: { labels: { app: 'db' }, host: 10, ports: [5432, 8080] },
  other: { labels: { app: 'other' }, host: 11, ports: [] },
  cases: { labels: { app: 'cases' }, host: 12, ports: caseNumbers },
};

/** Pods of c2, as `namespace/name`, and of c3. The label K of a Pod means nothing. */
const remotePods: Readonly<Record<'c2' | 'c3', Readonly<Record<string, PodSpec>>>> = {
  c2: {
    'beta/web': { labels: { app: 'web', [K]: 'c2' }, host: 20, http: 8080, ports: [8080] },
    'beta/web-2': { labels: { app: 'web' }, host: 22, http: 8080, ports: [8080] },
    'beta/other': { labels: { app: 'other' }, host: 21, ports: [] },
    'gamma/x': { labels: { app: 'web' }, host: 30, http: 9090, ports: [8080, 9090] },
  },
  c3: { 'beta/web': { labels: { app: 'web' }, host: 20, ports: [] } },
};

/** gamma of c2 says that it is of c1. */
const remoteNamespaces: Readonly<Record<string, Labels>> = { beta: {}, gamma: { [K]: 'c1' } };

const ipsOf = (network: string, host: number): readonly [string, string] => [
  `10.${network}.${host}`,
  `fd00:${network.replace('.', ':')}::${host}`,
];
const networkOf = {
  felix: '1.1',
  'felix-iptables': '1.3',
  'kube-network-policies': '1.2',
  c2: '2.0',
  c3: '3.0',
} as const;

function podObject(network: string, name: string, { labels, host, http }: PodSpec): KubeObject {
  const [namespace = '', pod = ''] = name.split('/');
  const ports = http === undefined ? [] : [{ name: 'http', containerPort: http, protocol: 'TCP' }];
  const podIPs = ipsOf(network, host).map((ip) => ({ ip }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name: pod, labels: { ...labels } },
    spec: { containers: [{ name: 'app', image: 'app', ports }] },
    status: { phase: 'Running', podIP: podIPs[0]!.ip, podIPs },
  };
}

const remotes = ['c2', 'c3'] as const;

const remotePod = (remote: (typeof remotes)[number], pod: string): KubeObject =>
  podObject(networkOf[remote], pod, remotePods[remote][pod]!);

const POLICIES = '/apis/networking.k8s.io/v1/namespaces/alpha/networkpolicies';

let network: Network;
let cluster: RealCluster;
let c2: EmbeddedCluster;
/** Between semaphore-policy and c2. */
let proxy: FaultProxy;
let controller: PolicyProcess;
/** Of the controller. */
let configFlag: string;
/** By `engine/pod` of c1 and `cluster/namespace/pod` of the others. */
const places = new Map<string, Place>();
const stops: (() => Promise<void>)[] = [];

/** Routes the Pods of all nodes to each other. */
async function route(nodes: ReadonlyMap<string, NetworkNode>): Promise<void> {
  for (const [name, node] of nodes)
    for (const [other, { ipv4, ipv6 }] of nodes) {
      if (other === name) continue;
      const [v4, v6] = ipsOf(networkOf[other as keyof typeof networkOf], 0);
      await node.run('ip', ['route', 'add', `${v4}/24`, 'via', ipv4]);
      await node.run('ip', ['-6', 'route', 'add', `${v6}/64`, 'via', ipv6]);
    }
}

async function startSystem(): Promise<void> {
  network = await startNetwork();
  stops.unshift(() => network.stop());
  cluster = await startRealCluster({ name: 'c1', controllerManager: true });
  stops.unshift(() => cluster.stop());
  await prepareCalico(cluster);
  await cluster.admin.create('/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'alpha' },
  });
  const nodes = new Map<string, NetworkNode>();
  for (const name of [...engines, ...remotes] as const) nodes.set(name, await network.addNode(name.slice(0, 12)));
  await route(nodes);
  for (const remote of remotes)
    for (const [pod, { host, ports }] of Object.entries(remotePods[remote])) {
      const place = await nodes.get(remote)!.addPod(ipsOf(networkOf[remote], host));
      places.set(`${remote}/${pod}`, place);
      if (ports.length > 0) await listen(place, ports);
    }
  await Promise.all(engines.map((engine) => startNode(engine, nodes.get(engine)!)));
}

/** The API server of a remote, with its Pods except web-2. */
async function startRemote(name: (typeof remotes)[number]) {
  const remote = await startEmbeddedCluster({ name });
  stops.unshift(() => remote.stop());
  for (const [namespace, labels] of Object.entries(remoteNamespaces))
    await remote.admin.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { ...labels } },
    });
  const pods = Object.keys(remotePods[name]).filter((pod) => pod !== 'beta/web-2');
  for (const pod of pods) await createPod(remote.admin, remotePod(name, pod));
  return { remote, account: await deployAccount(remote, folders.remote, folders.remoteNamespaces) };
}

/** semaphore-policy of c1. */
async function startController(): Promise<void> {
  const local = await deployAccount(cluster, folders.local, folders.networkPolicies, folders.calico);
  await deployPolicies(cluster, folders.local);
  const [first, second] = [await startRemote('c2'), await startRemote('c3')];
  c2 = first.remote;
  proxy = await startFaultProxy(c2);
  stops.unshift(() => proxy.stop());
  const config = join(cluster.dir, 'policy.json');
  const entry = (name: (typeof remotes)[number], kubeConfigPath: string) => {
    const allowedPodCIDRs = [`10.${networkOf[name]}.0/24`, `fd00:${networkOf[name].replace('.', ':')}::/64`];
    return { name, kubeConfigPath, allowedPodCIDRs };
  };
  const entries = [entry('c2', await proxy.kubeconfig(first.account)), entry('c3', second.account.kubeconfig)];
  await writeFile(config, JSON.stringify({ local: { kubeConfigPath: local.kubeconfig }, remotes: entries }));
  configFlag = `-config=${config}`;
  stops.unshift(async () => void (await controller.stop('SIGKILL')));
  await spawnController('networkpolicy');
}

async function spawnController(sink: 'networkpolicy' | 'calico'): Promise<void> {
  const flags = [`-network-policy-sink=${sink}`, '-calico-api=crd.projectcalico.org/v1'];
  controller = spawnPolicy(['-network-policies', configFlag, '-listen-address=127.0.0.1:0', ...flags]);
  await controller.ready();
}

/** A node of c1 with its Pods and an engine. */
async function startNode(engine: Engine, node: NetworkNode): Promise<void> {
  // Felix lets the node answer ARP for the gateway of its Pods, which the kernel does only for addresses that have a route.
  await node.run('ip', ['route', 'add', 'default', 'dev', 'eth0']);
  await node.forward(Number(new URL(cluster.url).port));
  await cluster.admin.create('/api/v1/nodes', nodeObject({ name: node.name, internalIPs: [node.ipv4, node.ipv6] }));
  for (const [pod, spec] of Object.entries(localPods)) {
    const name = `${pod}-${engine}`;
    const object = podObject(networkOf[engine], `alpha/${name}`, spec);
    const place = await node.addPod(ipsOf(networkOf[engine], spec.host), calicoLink('alpha', name));
    places.set(`${engine}/${pod}`, place);
    if (spec.ports.length > 0) await listen(place, spec.ports);
    await createPod(cluster.admin, { ...object, spec: { ...(object['spec'] as object), nodeName: node.name } });
  }
  const running = await policyEngines[engine]({ cluster, node });
  stops.unshift(() => running.stop());
}

/** A flow: from and to are `pod` for one of c1, `cluster/namespace/pod` for another. */
type Flow = readonly [from: string, to: string, port: number];

const placeOf = (engine: Engine, pod: string): Place => places.get(pod.includes('/') ? pod : `${engine}/${pod}`)!;

function addressesOf(engine: Engine, pod: string): readonly string[] {
  if (!pod.includes('/')) return ipsOf(networkOf[engine], localPods[pod]!.host);
  const [remote, ...name] = pod.split('/');
  return ipsOf(networkOf[remote as 'c2'], remotePods[remote as 'c2'][name.join('/')]!.host);
}

const textOf = ([from, to, port]: Flow): string => `${from} -> ${to}:${port}`;

/** The flows that are possible on the node of each engine, as text. `IPv4 only`: not by IPv6. */
async function openAmong(
  flows: readonly Flow[],
  on: readonly Engine[] = engines,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const attempts = on.flatMap((engine) => flows.map((flow) => ({ engine, flow, from: placeOf(engine, flow[0]) })));
  const open = new Map(on.map((engine) => [engine, [] as string[]]));
  // One process for each Pod: those of other clusters call all nodes.
  const calls = Array.from(
    Map.groupBy(attempts, ({ from }) => from),
    async ([from, its]) => {
      const targets = its.flatMap(({ engine, flow: [, to, port] }) =>
        addressesOf(engine, to).map((ip) => [ip, port] as const),
      );
      const answers = await connections(from, targets);
      for (const [i, { engine, flow }] of its.entries()) {
        const [v4 = false, v6 = false] = answers.slice(2 * i, 2 * i + 2);
        if (v4 || v6) open.get(engine)!.push(`${textOf(flow)}${v4 && v6 ? '' : v4 ? ' IPv4 only' : ' IPv6 only'}`);
      }
    },
  );
  await Promise.all(calls);
  return Object.fromEntries(Array.from(open, ([engine, texts]) => [engine, texts.toSorted()]));
}

/** Connects again and again while a change is under way. @returns what was possible, each state once */
async function openDuring(
  flows: readonly Flow[],
  change: () => Promise<void>,
  on: readonly Engine[] = engines,
): Promise<readonly unknown[]> {
  const states = new Set<string>();
  let isChanging = true;
  const attempts = async (): Promise<void> => {
    while (isChanging) states.add(JSON.stringify(await openAmong(flows, on)));
  };
  await Promise.all([change().finally(() => (isChanging = false)), attempts()]);
  return Array.from(states, (state) => JSON.parse(state) as unknown);
}

/** What `openAmong` returns when exactly these flows are possible. */
const everywhere = (
  flows: readonly Flow[],
  on: readonly Engine[] = engines,
): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(on.map((engine) => [engine, flows.map(textOf).toSorted()]));

const policy = (name: string, spec: object): KubeObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { namespace: 'alpha', name },
  spec,
});

async function replaceSpec(name: string, spec: object): Promise<void> {
  const path = `${POLICIES}/${name}`;
  const { status } = await cluster.admin.request('PUT', path, { ...(await cluster.admin.get(path)), spec });
  if (status !== 200) throw new Error(`PUT ${name}: ${status}`);
}

describe.skipIf(goesWithoutEngines)('NetworkPolicies on packets', () => {
  beforeAll(startSystem, 180_000);
  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  describe('a policy that names c2 for ingress, and all clusters for egress', () => {
    const flows: readonly Flow[] = [
      ['c2/beta/web', 'db', 5432],
      ['c2/beta/web', 'db', 8080],
      ['c2/beta/web-2', 'db', 5432],
      ['c2/beta/web-2', 'db', 8080],
      ['c2/beta/other', 'db', 5432],
      ['c2/gamma/x', 'db', 5432],
      ['c3/beta/web', 'db', 5432],
      ['other', 'db', 5432],
      ['db', 'c2/beta/web', 8080],
      ['db', 'c2/beta/web-2', 8080],
      ['db', 'c2/gamma/x', 8080],
      ['db', 'c2/gamma/x', 9090],
      ['other', 'c2/gamma/x', 8080],
    ];
    const only = (...wanted: readonly string[]) => flows.filter((flow) => wanted.includes(textOf(flow)));
    /** What the policy isn't about. */
    const notSelected = 'other -> c2/gamma/x:8080';

    it('opens everything without the policy', async () => {
      await eventually(() => openAmong(flows), everywhere(flows));
    });

    /** Lets Pods `web` of beta in c2 in by a port, and out to the port `http` of all Pods in other clusters. */
    const dbPolicy = (port: number) => ({
      podSelector: { matchLabels: { app: 'db' } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        {
          from: [
            {
              namespaceSelector: { matchLabels: { [K]: 'c2', 'kubernetes.io/metadata.name': 'beta' } },
              podSelector: { matchLabels: { app: 'web' } },
            },
          ],
          ports: [{ port }],
        },
      ],
      egress: [
        {
          to: [{ namespaceSelector: { matchExpressions: [{ key: K, operator: 'Exists' }] } }],
          ports: [{ port: 'http' }],
        },
      ],
    });

    it('closes to all Pods of other clusters by the policy alone', async () => {
      await cluster.admin.create(POLICIES, policy('db', dbPolicy(5432)));
      await eventually(() => openAmong(flows), everywhere(only(notSelected)));
    });

    it('opens exactly what the policy names by its companions', async () => {
      await startController();
      const open = ['c2/beta/web -> db:5432', 'db -> c2/beta/web:8080', 'db -> c2/gamma/x:9090'];
      await eventually(() => openAmong(flows), everywhere(only(notSelected, ...open)));
    });

    it('refuses no connection while a new Pod replaces another one', async () => {
      const [before, after] = [only('c2/beta/web -> db:5432'), only('c2/beta/web-2 -> db:5432')];
      const arrives = async (): Promise<void> => {
        await createPod(c2.admin, remotePod('c2', 'beta/web-2'));
        await eventually(() => openAmong(after), everywhere(after));
      };
      expect(await openDuring(before, arrives)).toEqual([everywhere(before)]);
      const leaves = async (): Promise<void> => {
        await deletePod(c2.admin, remotePod('c2', 'beta/web').metadata);
        await eventually(() => openAmong(before), everywhere([]));
      };
      expect(await openDuring(after, leaves)).toEqual([everywhere(after)]);
      const open = ['c2/beta/web-2 -> db:5432', 'db -> c2/beta/web-2:8080', 'db -> c2/gamma/x:9090'];
      expect(await openAmong(flows)).toEqual(everywhere(only(notSelected, ...open)));
    });

    it('opens another port when the policy names another one', async () => {
      await replaceSpec('db', dbPolicy(8080));
      const open = ['c2/beta/web-2 -> db:8080', 'db -> c2/beta/web-2:8080', 'db -> c2/gamma/x:9090'];
      await eventually(() => openAmong(flows), everywhere(only(notSelected, ...open)));
    });

    it('closes what the policy names no more while c2 is away, and opens nothing new of c2', async () => {
      await proxy.set({ kind: 'refuse' });
      await hasFailed(controller, 'unreachable');
      await createPod(c2.admin, remotePod('c2', 'beta/web'));
      await replaceSpec('db', { ...dbPolicy(8080), egress: [] });
      const open = ['c2/beta/web-2 -> db:8080'];
      await eventually(() => openAmong(flows), everywhere(only(notSelected, ...open)));
      await proxy.clear();
      await eventually(() => openAmong(flows), everywhere(only(notSelected, 'c2/beta/web -> db:8080', ...open)));
    });

    it('opens again what a deleted companion opened', async () => {
      const uidOf = async (name: string) =>
        (await cluster.admin.list(POLICIES)).find(({ metadata }) => metadata.name === name)?.metadata.uid;
      const names = (await cluster.admin.list(POLICIES)).map(({ metadata }) => metadata.name);
      const ingress = names.filter((name) => name.startsWith('db-c2-ingress-'));
      expect(ingress).toHaveLength(1);
      const before = await uidOf(ingress[0]!);
      await cluster.admin.delete(`${POLICIES}/${ingress[0]}`);
      await eventually(
        () => uidOf(ingress[0]!),
        (uid) => uid !== undefined && uid !== before,
      );
      const open = ['c2/beta/web -> db:8080', 'c2/beta/web-2 -> db:8080'];
      await eventually(() => openAmong(flows), everywhere(only(notSelected, ...open)));
    });

    it('opens the same by policies of Calico, and refuses no connection when these take the place of others', async () => {
      const on = ['felix', 'felix-iptables'] as const;
      const egress = ['db -> c2/beta/web:8080', 'db -> c2/beta/web-2:8080', 'db -> c2/gamma/x:9090'];
      const opened = (port: number) =>
        only(notSelected, ...egress, `c2/beta/web -> db:${port}`, `c2/beta/web-2 -> db:${port}`);
      await replaceSpec('db', dbPolicy(8080));
      await eventually(() => openAmong(flows, on), everywhere(opened(8080), on));
      for (const [sink, path, before, after] of [
        ['calico', '/apis/networking.k8s.io/v1/networkpolicies', 8080, 5432],
        ['networkpolicy', '/apis/crd.projectcalico.org/v1/networkpolicies', 5432, 8080],
      ] as const) {
        const change = async (): Promise<void> => {
          await controller.stop();
          await spawnController(sink);
          await eventually(async () => {
            const companions = (await cluster.admin.list(path)).map(({ metadata }) => metadata.name);
            return companions.filter((name) => name.includes('db-c2-'));
          }, []);
        };
        expect(await openDuring(opened(before), change, on)).toEqual([everywhere(opened(before), on)]);
        // This is in force after the removal of the other companions is.
        await replaceSpec('db', dbPolicy(after));
        await eventually(() => openAmong(flows, on), everywhere(opened(after), on));
      }
    });

    it('opens everything when the policy is deleted, and its companions with it', async () => {
      await cluster.admin.delete(`${POLICIES}/db`);
      await eventually(() => openAmong(flows), everywhere(flows));
    });
  });

  describe('a policy for each way to name clusters', () => {
    const expression = (operator: string, ...values: readonly string[]) => ({
      namespaceSelector: { matchExpressions: [{ key: K, operator, ...(values.length > 0 && { values }) }] },
    });
    const label = (cluster: string) => ({ namespaceSelector: { matchLabels: { [K]: cluster } } });
    const all: readonly string[] = ['c1', 'c2', 'c3'];

    /** Clusters whose Pods get in, while the namespaces of c1 have no label and when they have. */
    const cases: readonly { peer: object; unlabelled: readonly string[]; labelled: readonly string[] }[] = [
      { peer: { namespaceSelector: {} }, unlabelled: ['c1'], labelled: ['c1'] },
      { peer: { podSelector: {} }, unlabelled: ['c1'], labelled: ['c1'] },
      { peer: label('c2'), unlabelled: ['c2'], labelled: ['c2'] },
      { peer: expression('In', 'c2'), unlabelled: ['c2'], labelled: ['c2'] },
      { peer: expression('In', 'c1', 'c2'), unlabelled: ['c2'], labelled: ['c1', 'c2'] },
      { peer: label('c1'), unlabelled: [], labelled: ['c1'] },
      { peer: label('c9'), unlabelled: [], labelled: [] },
      { peer: expression('Exists'), unlabelled: ['c2', 'c3'], labelled: all },
      { peer: expression('NotIn', 'c2'), unlabelled: ['c1', 'c3'], labelled: ['c1', 'c3'] },
      { peer: expression('NotIn', 'c1'), unlabelled: all, labelled: ['c2', 'c3'] },
      { peer: expression('DoesNotExist'), unlabelled: ['c1'], labelled: [] },
      {
        peer: {
          namespaceSelector: {
            matchLabels: { 'kubernetes.io/metadata.name': 'beta' },
            matchExpressions: [
              { key: K, operator: 'Exists' },
              { key: K, operator: 'NotIn', values: ['c3'] },
            ],
          },
        },
        unlabelled: ['c2'],
        labelled: ['c2'],
      },
      { peer: { podSelector: { matchLabels: { [K]: 'c2' } } }, unlabelled: [], labelled: [] },
      { peer: { namespaceSelector: {}, podSelector: { matchLabels: { [K]: 'c2' } } }, unlabelled: [], labelled: [] },
    ];
    const sources: Readonly<Record<string, string>> = { c1: 'other', c2: 'c2/beta/web', c3: 'c3/beta/web' };
    /** Each case has a port of its own. */
    const flowsFrom = (clusters: (each: (typeof cases)[number]) => readonly string[]): readonly Flow[] =>
      cases.flatMap((each, i) => clusters(each).map((name) => [sources[name]!, 'cases', CASES_FROM + i] as const));
    const flows = flowsFrom(() => all);

    it('lets in the clusters that it names, and local Pods as ever while their namespace has no label', async () => {
      for (const [i, { peer }] of cases.entries())
        await cluster.admin.create(
          POLICIES,
          policy(`case-${i}`, {
            podSelector: { matchLabels: { app: 'cases' } },
            policyTypes: ['Ingress'],
            ingress: [{ from: [peer], ports: [{ port: CASES_FROM + i }] }],
          }),
        );
      await eventually(() => openAmong(flows), everywhere(flowsFrom(({ unlabelled }) => unlabelled)));
    });

    it('lets in local Pods by their cluster when their namespace has its label', async () => {
      const { status } = await cluster.admin.request('PATCH', '/api/v1/namespaces/alpha', {
        metadata: { labels: { [K]: 'c1' } },
      });
      expect(status).toBe(200);
      await eventually(() => openAmong(flows), everywhere(flowsFrom(({ labelled }) => labelled)));
    });
  });
});
