import { eventually } from '@kube-semaphore/eventually';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFailed } from 'vitest';
import { changesIn, type Inventory, inventoryOf } from '../../src/inventory.ts';
import { findingsIn, wrongHopOf } from '../../src/mesh-report.ts';
import { SHOP } from '../../src/shop-manifests.ts';
import { type Caller, System } from '../../src/system.ts';
import { ways } from '../../src/ways.ts';

/** Each test continues from the state of the one before it. */
let system: System;
let caller: Caller;
let before: readonly Inventory[];

beforeAll(async () => {
  system = await System.start();
  before = await Promise.all(system.sides.map(inventoryOf));
  await system.install();
  await system.openShop();
  // An allowing policy of Calico's own kind would win over NetworkPolicies that deny.
  await system.c2.kubectl(`-n ${SHOP} delete networkpolicies.crd.projectcalico.org default.web`);
  caller = await system.startCaller();
});
afterAll(() => system.stop());
beforeEach(() => onTestFailed(async () => console.error(await system.logs())));

const fine = { checks: [], hop: null, answered: true };
const slowly = { timeoutMs: 300_000, intervalMs: 1_000 };

/** What `semaphore` finds, and whether the last calls were answered; undefined: some were. */
async function seen(): Promise<object> {
  const [checks, hop] = await Promise.all([
    findingsIn(system.sides),
    wrongHopOf(system.sides, `c1/${SHOP}/checkout-0`, `c2/${SHOP}/web:80`),
  ]);
  const last = caller.calls.all().slice(-20);
  const count = last.filter(({ by }) => by !== undefined).length;
  return { checks, hop, answered: count === last.length ? true : count === 0 ? false : undefined };
}

it('links two clusters from nothing by one command', async () => {
  await eventually(seen, fine, slowly);
  await system.semaphore('test');
});

it.each(ways)(
  'finds what is wrong if $what',
  async ({ checks, hop = null, breaks, mends = () => system.install() }) => {
    await breaks(system);
    try {
      await eventually(seen, { checks, hop, answered: hop === null }, slowly);
    } finally {
      await mends(system);
    }
    await eventually(seen, fine, slowly);
  },
);

it('imports a Service of the other cluster, if the same command adds Multi-Cluster Services', async () => {
  const { c1, sides } = system;
  const exported = ['web', `--namespace=${SHOP}`, '--context=c2', '--importer=c1', '--wait=5m'];
  await system.semaphore('link', `--output=${system.overlays}`, '--shared-service-cidrs', '--apply', '--mcs');
  await Promise.all(sides.map((side) => side.ready()));
  await system.semaphore('export', ...exported);
  const url = `http://web.${SHOP}.svc.clusterset.local/`;
  const program = `fetch("${url}").then((answer) => answer.text()).then(console.log, (error) => console.log(error.cause))`;
  const call = () => c1.kubectl(`-n ${SHOP} exec checkout-0 -- /usr/local/bin/node -e '${program}'`);
  await eventually(call, (answer) => answer.startsWith('{"by":"web-'), { ...slowly, what: `an answer of ${url}` });
  await eventually(seen, fine, slowly);
  await system.semaphore('export', ...exported, '--remove');
});

it('unlinks them to nothing', async () => {
  await system.semaphore('test');
  await system.c1.kubectl(`-n ${SHOP} delete pod checkout-0`);
  await system.c2.kubectl(`-n ${SHOP} delete deployment,service,poddisruptionbudget web`);
  const changes = async () =>
    (await Promise.all(system.sides.map(inventoryOf))).map((now, i) => changesIn(before[i]!, now));
  expect((await changes()).map(({ length }) => length > 50)).toEqual([true, true]);
  await system.semaphore('unlink', `--output=${system.overlays}`, '--apply');
  await eventually(changes, [[], []], slowly);
});
