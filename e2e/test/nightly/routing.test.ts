import { eventually } from '@kube-semaphore/eventually';
import { fileImage } from '@kube-semaphore/real-nodes';
import { bash, docBlocks } from '@kube-semaphore/testkit';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFailed } from 'vitest';
import type { Calls, Tally } from '../../src/calls/calls.ts';
import { type App, workloads } from '../../src/manifests.ts';
import { semaphore } from '../../src/semaphore.ts';
import { SHOP } from '../../src/shop-manifests.ts';
import type { ClusterName } from '../../src/side.ts';
import { System } from '../../src/system.ts';
import { failedIn } from '../support/tally.ts';

const names = ['c1', 'c2', 'c3'] as const;
const appNames = Object.keys(workloads) as readonly App[];

/** The app of docs/routing.md, whose Pods answer with the name of their cluster, and its function that changes them. */
const [deploy = '', , each = ''] = docBlocks('routing.md', 'Try it');

const applets = ['sh', 'mkdir', 'touch', 'rm', 'httpd'];

/** Its image: nodes reach no registry. */
const image = fileImage({
  name: 'docker.io/library/busybox:1.37',
  entrypoint: ['/bin/busybox'],
  files: { 'bin/busybox': '/bin/busybox' },
  links: Object.fromEntries(applets.map((applet) => [`bin/${applet}`, 'busybox'])),
});

/** Only one cluster answers: so many of its answers in a row, three seconds of them. */
const WELL = 150;

/** The global Service in c1. */
const GLOBAL = `gl-${SHOP}-73736d-who`;

const mirrors = `-n ${workloads['service-mirror'].namespace}`;

/** Each test continues from the state of the one before it. */
let system: System;
let calls: Calls;
const rows: string[] = [];

beforeAll(async () => {
  // No node is lost here: one that a busy machine delays must not seem to be.
  system = await System.start({ clusters: names, nodes: 1, images: [image], lossSeconds: 300 });
  const { c1, sides } = system;
  await Promise.all(sides.map((side) => side.kubectl('label node --all topology.kubernetes.io/zone=z1')));
  await system.install();
  await type(deploy);
  await Promise.all(sides.map((side) => side.endsRollout(SHOP, 'deployment/who')));
  await c1.kubectl(`${mirrors} wait --for=create service/${GLOBAL} --timeout=10m`);
  const address = await c1.kubectl(`${mirrors} get service ${GLOBAL} -o jsonpath='{.spec.clusterIP}'`);
  // A busy machine answers late.
  const options = { url: `http://${address}/`, intervalMs: 20, timeoutMs: 30_000 };
  ({ calls } = await system.startCallerOn(c1.nodes[0]!, options));
  await calls.answered(WELL, 'c1');
});
afterAll(async () => {
  console.log(['| what happens | calls | c1 | c2 | c3 | failed |', '|---|---|---|---|---|---|', ...rows].join('\n'));
  await system.stop();
});
beforeEach(() => onTestFailed(async () => console.error(await system.logs())));

/** Runs commands with the contexts of all clusters. */
const type = (commands: string): Promise<unknown> => {
  const files = system.sides.map(({ cluster }) => cluster.adminKubeconfig);
  return bash(`export KUBECONFIG=${files.join(':')}\n${commands}`, system.c1.cluster);
};

/** Changes what the probes of all Pods of these clusters find. The Pods answer all the same. */
const setReady = (isReady: boolean, ...clusters: readonly ClusterName[]): Promise<unknown> => {
  const change = isReady ? 'touch' : 'rm';
  return type([each, ...clusters.map((cluster) => `each ${cluster} ${change} /www/ready`)].join('\n'));
};

/** As kube-proxy of c1 would find it if the app had written it. */
const writeUnready = (cluster: ClusterName): Promise<unknown> =>
  system.c1.kubectl(
    `${mirrors} get endpointslices -o json -l kubernetes.io/service-name=${GLOBAL},mirror-endpointslice-sync-name=${cluster} |
    sed 's/"ready": true/"ready": false/' | kubectl replace -f -`,
  );

/** Resolves when c1 reports whether it reaches c2. */
const reached = (wanted: boolean): Promise<unknown> =>
  eventually(
    () => system.c1.reaches('c2'),
    (all) => all.every((each) => each === wanted),
    { what: `remote_up ${Number(wanted)}`, intervalMs: 500 },
  );

type Remote = { readonly name: string };

/**
 * Changes the remotes in the config file of an app in c1, in place, and waits until each of its Pods has them in force.
 *
 * @returns the remotes before
 */
async function setRemotes(
  app: App,
  change: (remotes: readonly Remote[]) => readonly Remote[],
): Promise<readonly Remote[]> {
  const { c1 } = system;
  const { workload, namespace } = workloads[app];
  const kubectl = (command: string) => c1.kubectl(`-n ${namespace} ${command}`);
  const inForce = async () =>
    (await kubectl(`logs -l app=semaphore-${app} -c semaphore-${app} --tail=-1`)).match(/changed, and is in force/g)
      ?.length ?? 0;
  const map = await kubectl(
    `get ${workload} -o jsonpath='{.spec.template.spec.volumes[?(@.name=="config")].configMap.name}'`,
  );
  const file = JSON.parse(await kubectl(`get configmap ${map} -o jsonpath='{.data.config\\.json}'`)) as Record<
    string,
    readonly Remote[]
  >;
  const list = app === 'service-mirror' ? 'remoteClusters' : 'remotes';
  const before = file[list]!;
  const content = JSON.stringify({ ...file, [list]: change(before) });
  const want = (await inForce()) + (await c1.pods(namespace, `semaphore-${app}`)).length;
  await kubectl(`patch configmap ${map} --type=merge -p '${JSON.stringify({ data: { 'config.json': content } })}'`);
  await eventually(inForce, want, { what: `${app} has changed remotes`, intervalMs: 500 });
  return before;
}

/** Counts the calls from the start of a change until only one cluster answers, and prints those that fail. */
async function seen(
  last: ClusterName,
  what: string,
  change: () => Promise<unknown> = () => Promise.resolve(),
): Promise<{ readonly by: readonly ClusterName[]; readonly tally: Tally; readonly failed: readonly object[] }> {
  const tally = await calls.during(async () => {
    await change();
    await calls.answered(WELL, last);
  });
  const counts = names.map((name) => tally.calls.filter(({ by }) => by === name).length);
  rows.push(`| ${[what, tally.calls.length, ...counts, tally.failed.length].join(' | ')} |`);
  for (const { at, ms, error } of tally.failed)
    console.error(`${what}: ${new Date(at).toISOString()}, after ${Math.round(ms)} ms: ${error}`);
  return { by: names.filter((_, i) => counts[i]! > 0), tally, failed: failedIn(tally) };
}

it('calls the first cluster of the order, and no other', async () => {
  expect(await seen('c1', 'nothing')).toMatchObject({ by: ['c1'], failed: [] });
});

it('loses no call when a probe fails in the first cluster, and when it is ready again', async () => {
  const lost = await seen('c2', 'c1 is not ready', () => setReady(false, 'c1'));
  expect(lost).toMatchObject({ by: ['c1', 'c2'], failed: [] });
  const back = await seen('c1', 'c1 is ready again', () => setReady(true, 'c1'));
  expect(back).toMatchObject({ by: ['c1', 'c2'], failed: [] });
});

it('loses no call when the first two clusters are not ready, and when they are again', async () => {
  const lost = await seen('c3', 'c1 and c2 are not ready', () => setReady(false, 'c1', 'c2'));
  expect(lost.failed).toEqual([]);
  const back = await seen('c1', 'c1 and c2 are ready again', () => setReady(true, 'c1', 'c2'));
  expect(back.failed).toEqual([]);
});

it('loses no call when a cluster is drained for its own clients, and when it is not any more', async () => {
  const { c1 } = system;
  const drained = await seen('c2', '`semaphore drain c1 --context c1`', () => semaphore([c1], 'drain', 'c1'));
  expect(drained).toMatchObject({ by: ['c1', 'c2'], failed: [] });
  const back = await seen('c1', '`semaphore undrain c1 --context c1`', () => semaphore([c1], 'undrain', 'c1'));
  expect(back).toMatchObject({ by: ['c1', 'c2'], failed: [] });
});

it('loses no call when the API server of the cluster that answers is down', async () => {
  const { c2 } = system;
  const before = await seen('c2', 'c1 is not ready', () => setReady(false, 'c1'));
  expect(before.failed).toEqual([]);
  const down = await seen('c2', 'the API server of c2 is killed, too', async () => {
    await c2.cluster.stopApiserver();
    await reached(false);
  });
  expect(down).toMatchObject({ by: ['c2'], failed: [] });
  const up = await seen('c2', 'the API server of c2 is back', async () => {
    await c2.cluster.restart();
    await reached(true);
  });
  expect(up).toMatchObject({ by: ['c2'], failed: [] });
  const back = await seen('c1', 'c1 is ready again', () => setReady(true, 'c1'));
  expect(back.failed).toEqual([]);
});

it('loses no call when a level has too few ready Pods, and waits 30 s until it has enough', async () => {
  const annotate = (change: string) =>
    type(`for cluster in ${names.join(' ')}; do
    kubectl --context $cluster -n ${SHOP} annotate service who semaphore.uw.io/min-ready${change}
  done`);
  expect(await seen('c1', '`min-ready: 2`', () => annotate('=2'))).toMatchObject({ by: ['c1'], failed: [] });
  const one = () => system.c1.kubectl(`-n ${SHOP} exec deployment/who -- rm /www/ready`);
  const few = await seen('c2', 'one of two Pods of c1 is not ready', one);
  expect(few).toMatchObject({ by: ['c1', 'c2'], failed: [] });
  const back = await seen('c1', 'it is ready again', () => setReady(true, 'c1'));
  expect(back).toMatchObject({ by: ['c1', 'c2'], failed: [] });
  expect(back.tally.ms).toBeGreaterThan(30_000);
  await annotate('-');
});

it('loses no call while semaphore-service-mirror is killed, and kube-proxy alone changes to the next clusters', async () => {
  const { c1 } = system;
  const killed = await seen('c1', 'semaphore-service-mirror of c1 is killed, and kept away', async () => {
    await Promise.all(c1.nodes.map((node) => node.run('pkill', ['-KILL', '-f', '/semaphore-service-mirror'])));
    await c1.kubectl(`${mirrors} scale ${workloads['service-mirror'].workload} --replicas=0`);
    await eventually(() => c1.pods(workloads['service-mirror'].namespace, 'semaphore-service-mirror'), []);
  });
  expect(killed).toMatchObject({ by: ['c1'], failed: [] });
  const unseen = await seen('c1', 'then c1 is not ready', async () => {
    await setReady(false, 'c1');
    await c1.kubectl(`-n ${SHOP} wait pod -l app=who --for=condition=Ready=false --timeout=10m`);
  });
  expect(unseen).toMatchObject({ by: ['c1'], failed: [] });
  const second = await seen('c2', 'its EndpointSlice for c1 says so, written by hand', () => writeUnready('c1'));
  expect(second).toMatchObject({ by: ['c1', 'c2'], failed: [] });
  const standby = await seen('c3', 'that for c2, too', () => writeUnready('c2'));
  expect(standby).toMatchObject({ by: ['c2', 'c3'], failed: [] });
  const back = await seen('c2', 'semaphore-service-mirror is back', async () => {
    await c1.kubectl(`${mirrors} scale ${workloads['service-mirror'].workload} --replicas=2`);
    await c1.rolledOut('service-mirror');
  });
  expect(back).toMatchObject({ by: ['c2', 'c3'], failed: [] });
  expect((await seen('c1', 'c1 is ready again', () => setReady(true, 'c1'))).failed).toEqual([]);
});

it('loses no call when a cluster leaves the config of all apps, and when it is back', async () => {
  const { c1 } = system;
  const [node] = c1.nodes;
  const devices = async () => (await node!.run('ip', ['-o', 'link'])).match(/wireguard-\w+/g)?.toSorted();
  const before = await devices();
  let removed: readonly (readonly Remote[])[] = [];
  const answer = `fetch('http://who.${SHOP}.svc.cluster.global/').then(async (response) => console.log(await response.text()))`;
  const byName = async () => (await c1.kubectl(`-n ${SHOP} exec checkout-0 -- node -e "${answer}"`)).trim();
  expect((await seen('c2', 'c1 is not ready', () => setReady(false, 'c1'))).failed).toEqual([]);

  const gone = await seen('c2', 'c3 leaves the config of all apps in c1', async () => {
    removed = await Promise.all(
      appNames.map((app) => setRemotes(app, (all) => all.filter(({ name }) => name !== 'c3'))),
    );
    await eventually(devices, ['wireguard-c2']);
  });
  expect(gone).toMatchObject({ by: ['c2'], failed: [] });
  expect(await byName()).toContain('"c2"');

  const back = await seen('c2', 'c3 is back in it', async () => {
    await Promise.all(appNames.map((app, i) => setRemotes(app, () => removed[i]!)));
    await eventually(devices, before);
    await eventually(() => c1.reaches('c3'), [true, true]);
  });
  expect(back).toMatchObject({ by: ['c2'], failed: [] });
  // Through its new tunnel.
  expect(await seen('c3', 'c2 is not ready', () => setReady(false, 'c2'))).toMatchObject({
    by: ['c2', 'c3'],
    failed: [],
  });
  expect(await byName()).toContain('"c3"');
  expect((await seen('c1', 'c1 and c2 are ready again', () => setReady(true, 'c1', 'c2'))).failed).toEqual([]);
});

it('loses calls if Pods are killed, until their kubelet notices', async () => {
  const killed = await seen('c1', 'the Pods of c1 are killed, and restarted by their kubelet', () =>
    system.c1.nodes[0]!.run('pkill', ['-KILL', '-f', 'httpd -f -p 8080']),
  );
  expect(killed.failed).not.toEqual([]);
});
