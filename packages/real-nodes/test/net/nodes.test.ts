import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from '@kube-semaphore/eventually';
import { bash } from '@kube-semaphore/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dnsManifests, type RealNode } from '../../src/index.ts';
import { type StartedNodes, startNodes } from './start-nodes.ts';
import { apply, web } from './web.ts';

const owner = fileURLToPath(new URL('./nodes-owner.ts', import.meta.url));

/** One system is started, and each test continues where the one before it ended. */
let system: StartedNodes;
let n1: RealNode;
let n2: RealNode;

beforeAll(async () => {
  system = await startNodes();
  [n1, n2] = system.nodes.nodes as [RealNode, RealNode];
});
afterAll(() => system.stop());

type Pod = {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName: string };
  readonly status: {
    readonly podIP: string;
    readonly containerStatuses: readonly { readonly containerID: string; readonly restartCount: number }[];
  };
};

/** Runs kubectl as an administrator. */
const kubectl = async (commands: string): Promise<string> =>
  (await bash(`kubectl ${commands}`, system.nodes.cluster)).stdout;

/** The Pods of the Deployment on a node, without those that are being deleted. */
async function podsOn(node: RealNode): Promise<readonly Pod[]> {
  const pods = await system.nodes.cluster.admin.list('/api/v1/namespaces/default/pods?labelSelector=app%3Dweb');
  return (pods as unknown as readonly Pod[]).filter(
    ({ metadata, spec }) => spec.nodeName === node.name && metadata.deletionTimestamp === undefined,
  );
}

async function onlyPodOn(node: RealNode): Promise<Pod> {
  const [pod, ...others] = await podsOn(node);
  if (pod === undefined || others.length > 0) throw new Error(`${others.length + (pod ? 1 : 0)} Pods on ${node.name}`);
  return pod;
}

const answersTo = ({ metadata }: Pod): Promise<ReadonlySet<string>> =>
  web.answersTo(metadata.name, system.nodes.cluster);

const namesOf = (...pods: readonly Pod[]): ReadonlySet<string> => new Set(pods.map(({ metadata }) => metadata.name));

it('runs the Pods of a Deployment on both nodes, with addresses of these', async () => {
  await web.deploy(system.nodes.cluster);
  for (const node of [n1, n2]) {
    const { status } = await onlyPodOn(node);
    expect(status.podIP.split('.').slice(0, 3)).toEqual((await node.podCidr()).split('.').slice(0, 3));
  }
});

it('shows what a Pod writes, and runs commands in it', async () => {
  const { metadata } = await onlyPodOn(n2);
  expect(await kubectl(`logs ${metadata.name}`)).toBe('serving\n');
  expect(await kubectl(`exec ${metadata.name} -- hostname`)).toBe(`${metadata.name}\n`);
});

it('lets a Pod reach the Pods of a Service, on its node and on another one', async () => {
  const pods = [await onlyPodOn(n1), await onlyPodOn(n2)] as const;
  for (const caller of pods) await eventually(() => answersTo(caller), namesOf(...pods));
});

it('resolves the name of a Service by a CoreDNS that reaches the API server by its own Service', async () => {
  await apply(system.nodes.cluster, dnsManifests('10.96.0.10', '.:53 {\n  ready\n  kubernetes cluster.local\n}\n'));
  await kubectl('--namespace kube-system rollout status deployment/coredns --timeout=10m');
  const { metadata } = await onlyPodOn(n1);
  const { spec } = await system.nodes.cluster.admin.get('/api/v1/namespaces/default/services/web');
  const lookUp = `exec ${metadata.name} -- nslookup web.default.svc.cluster.local`;
  await eventually(
    () => kubectl(lookUp).catch(() => ''),
    (answer) => answer.includes(`Address: ${(spec as { clusterIP: string }).clusterIP}\n`),
  );
});

it('keeps Pods running when a kubelet is killed, and starts another kubelet', async () => {
  const pidOf = () => n2.run('pgrep', ['-x', 'kubelet']).catch(() => '');
  const [pod, pid] = [await onlyPodOn(n2), await pidOf()];
  await n2.killKubelet();
  await eventually(pidOf, (other) => other !== '' && other !== pid);
  await eventually(() => kubectl(`exec ${pod.metadata.name} -- hostname`).catch(() => ''), `${pod.metadata.name}\n`);
  expect((await onlyPodOn(n2)).status.containerStatuses).toMatchObject(
    pod.status.containerStatuses.map(({ containerID, restartCount }) => ({ containerID, restartCount })),
  );
});

it('stops calling the Pod of a lost node, and runs it again when the node comes back', async () => {
  const [here, there] = [await onlyPodOn(n1), await onlyPodOn(n2)];
  await n2.unplug(system.network.underlay);
  await eventually(() => n2.isReady(), false);
  await eventually(
    () => kubectl('get endpointslices --selector kubernetes.io/service-name=web --output json'),
    (slices) => !readyIps(slices).includes(there.status.podIP),
  );
  await eventually(() => answersTo(here), namesOf(here));
  await n2.plugIn(system.network.underlay);
  await n2.ready();
  await kubectl('rollout status deployment/web --timeout=10m');
  const again = await onlyPodOn(n2);
  expect(again.metadata.name).toBe(there.metadata.name);
  expect(again.status.containerStatuses[0]?.restartCount).toBeGreaterThan(0);
  await eventually(() => answersTo(here), namesOf(here, again));
});

type Slices = {
  readonly items: readonly {
    readonly endpoints: readonly {
      readonly addresses: readonly string[];
      readonly conditions: { readonly ready: boolean };
    }[];
  }[];
};

const readyIps = (slices: string): readonly string[] =>
  (JSON.parse(slices) as Slices).items.flatMap(({ endpoints }) =>
    endpoints.filter(({ conditions }) => conditions.ready).flatMap(({ addresses }) => addresses),
  );

/** What exists of systems with these folders: the folders, control groups, and processes with a folder in their arguments. */
async function remainsOf(dirs: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'args=']);
  const processes = stdout.split('\n').filter((line) => dirs.some((dir) => line.includes(dir)));
  const cgroups = dirs.flatMap((dir) => globSync(`/sys/fs/cgroup/**/${basename(dirname(dir))}-*`));
  return [...dirs.filter((dir) => existsSync(dir)), ...cgroups, ...processes];
}

it('leaves nothing of a second system when the process that started it is killed', async () => {
  const child = fork(owner, { execPath: process.execPath, execArgv: [] });
  const [dirs] = (await once(child, 'message')) as [readonly string[]];
  expect((await remainsOf(dirs)).length).toBeGreaterThan(dirs.length);
  child.kill('SIGKILL');
  await eventually(() => remainsOf(dirs), []);
  const [pod, other] = [await onlyPodOn(n1), await onlyPodOn(n2)];
  await eventually(() => answersTo(pod), namesOf(pod, other));
});

it('leaves nothing after stop, which may be called twice', async () => {
  const { cluster, nodes } = system.nodes;
  const dirs = [cluster.dir, ...nodes.map(({ dir }) => dir)];
  expect((await remainsOf(dirs)).length).toBeGreaterThan(dirs.length);
  await system.stop();
  await system.stop();
  expect(await remainsOf(dirs)).toEqual([]);
});
