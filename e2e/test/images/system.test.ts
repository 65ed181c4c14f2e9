import { eventually } from '@kube-semaphore/eventually';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFailed } from 'vitest';
import type { Tally } from '../../src/calls/calls.ts';
import { DocumentedPolicies } from '../../src/documented-policies.ts';
import { Scenarios } from '../../src/scenarios.ts';
import type { Side } from '../../src/side.ts';
import { System } from '../../src/system.ts';
import { inspect } from '../../src/calls/wire.ts';
import { failedIn, mostlyAnswered } from '../support/tally.ts';

/** `npm run nightly` gives c2 a newer Kubernetes. */
const c2Kubernetes = process.env['C2_KUBERNETES'] === 'newer' ? 'kubernetes-newer' : 'kubernetes';

/** Each test continues from the state of the one before it. */
let system: System;
let scenarios: Scenarios;
let policies: DocumentedPolicies;

beforeAll(async () => {
  system = await System.start({ c2Kubernetes });
  await system.install();
  // A busy machine looks names up late, and answers late. A call that leads nowhere fails after any time.
  scenarios = await Scenarios.start(system, 30_000);
});
afterAll(() => system.stop());
beforeEach(() => onTestFailed(async () => console.error(await system.logs())));

it('has the same Kubernetes in both clusters, except if c2 gets a newer one', async () => {
  const versionOf = async (side: Side) => {
    const { gitVersion } = JSON.parse(await side.kubectl('get --raw /version')) as { readonly gitVersion: string };
    const kubelets = await side.kubectl("get nodes -o jsonpath='{.items[*].status.nodeInfo.kubeletVersion}'");
    expect(kubelets).toBe(`${gitVersion} ${gitVersion}`);
    return gitVersion;
  };
  const [c1, c2] = [await versionOf(system.c1), await versionOf(system.c2)];
  expect(c1 === c2).toBe(c2Kubernetes === 'kubernetes');
});

it('is right in all that semaphore check checks', async () => {
  const { checks } = JSON.parse(await system.semaphore('check', '--wait=5m', '--output=json')) as {
    readonly checks: readonly { readonly name: string; readonly result: string }[];
  };
  // Nothing replaces addresses here, tokens don't end, no Service is exported, and there is no inventory.
  const others = checks.filter(({ result }) => result !== 'ok');
  expect(others).toMatchObject([
    { name: 'sources-kept', result: 'skipped' },
    { name: 'app-credentials-valid', result: 'skipped' },
    { name: 'imports-resolved', result: 'skipped' },
    { name: 'inventory-complete', result: 'skipped' },
  ]);
});

it('lets all packets of semaphore test through, in both directions', async () => {
  const { calls } = JSON.parse(await system.semaphore('test', '--output=json')) as {
    readonly calls: readonly { readonly from: string; readonly by: string; readonly sourceAddress: string | null }[];
  };
  expect(calls.map(({ from, by }) => `${from} ${by}`).toSorted()).toEqual(
    ['c1', 'c2'].flatMap((from) => ['name', 'pod', 'service'].map((by) => `${from} ${by}`)),
  );
  // Also by a Service, each call has the address of its Pod.
  expect(calls.map(({ sourceAddress }) => sourceAddress)).not.toContain(null);
});

it('answers a Pod of c1 by the name of c2, unreadable on the wire', async () => {
  const capture = await scenarios.caller.node.machine.capture();
  const said = 'a secret of c1';
  expect(await scenarios.ask(said)).toEqual({
    by: expect.stringMatching(/^web-/),
    seen: scenarios.caller.ip,
    said,
  });
  const wire = inspect(await capture.stop(), said);
  // A TCP connection has at least seven packets: three to open it, a request, an answer, and a FIN from each side.
  expect(wire.encrypted).toBeGreaterThanOrEqual(7);
  expect(wire.readable).toBe(0);
});

it('lets c2 identify the caller by its address', async () => {
  await eventually(() => system.c2.netsOf('c1-shop-checkout'), [`${scenarios.caller.ip}/32`]);
});

it('loses no call in a rollout of c2', async () => {
  const before = new Set((await scenarios.shop.pods()).map(({ metadata }) => metadata.name));
  const tally = await scenarios.rollOut('v2');
  expect(failedIn(tally)).toEqual([]);
  const after = (await scenarios.shop.pods()).map(({ metadata }) => metadata.name);
  expect(after.some((name) => before.has(name))).toBe(false);
  expect(new Set(tally.calls.map(({ by }) => by))).toEqual(new Set([...before, ...after]));
});

it('loses no call when c2 gets a node, and reaches a Pod on it', async () => {
  expect(failedIn(await scenarios.addNode())).toEqual([]);
});

it('loses no call when the node of the leading service-mirror is drained', async () => {
  expect(failedIn(await scenarios.drainLeader())).toEqual([]);
});

it('loses no call when a node with Pods of the app is drained', async () => {
  expect(failedIn(await scenarios.drainApp())).toEqual([]);
});

it('loses no call when kubelets restart', async () => {
  expect(failedIn(await scenarios.restartKubelets())).toEqual([]);
});

it.each(['policy', 'service-mirror'] as const)('loses no call when %s gets another image', async (app) => {
  expect(failedIn(await scenarios.upgrade(app))).toEqual([]);
});

it('loses calls only until each new Pod of wireguard has its tunnels', async () => {
  expect(mostlyAnswered(await scenarios.upgrade('wireguard'))).toBe(true);
});

it('makes each block of Calico’s IPAM in c2 an address range of a peer in c1', async () => {
  const status =
    'exec daemonset/semaphore-wireguard -- /semaphore-wireguard status -clusters-config /etc/kube-semaphore/config/config.json';
  const blocks = "get ipamblocks.crd.projectcalico.org -o jsonpath='{.items[*].spec.cidr}'";
  const rangesIn = (text: string) => text.match(/\b10\.4\.\d+\.\d+\/26\b/g)?.toSorted();
  const wanted = rangesIn(await system.c2.kubectl(blocks));
  expect(wanted).toHaveLength(3);
  expect(rangesIn(await system.c1.kubectl(`-n kube-system ${status}`))).toEqual(wanted);
});

it('lets the documented policies select Pods of c2', async () => {
  policies = await DocumentedPolicies.start(system);
  await eventually(() => policies.reached(), { checkout: true, stranger: true });
  await policies.apply();
  await eventually(() => policies.reached(), { checkout: true, stranger: false });
});

it('admits the new Pod of a rollout in c2, and not the old one', async () => {
  await policies.rollOut();
  await eventually(() => policies.reached(), { checkout: true, stranger: false });
});

it('restores a set that is edited by hand, and what it admits', async () => {
  const before = await system.c1.netsOf('c2-shop-checkout');
  await policies.editSet();
  expect(await system.c1.netsOf('c2-shop-checkout')).toEqual(before);
});

it('loses the addresses of Pods without a disabled pool for the other cluster', async () => {
  expect((await policies.losePool()).failed).not.toEqual([]);
});

it('loses no call while the API server of c2 is down, and reaches it again afterwards', async () => {
  let ours: Tally | undefined;
  const { checkout, stranger } = await policies.during(async () => {
    ours = await scenarios.loseApiserver(2_000);
  });
  expect(failedIn(ours!)).toEqual([]);
  expect(failedIn(checkout)).toEqual([]);
  expect(failedIn(stranger)).toHaveLength(stranger.calls.length);
});
