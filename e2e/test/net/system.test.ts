import { eventually } from '@kube-semaphore/eventually';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFailed } from 'vitest';
import type { Tally } from '../../src/calls.ts';
import { Scenarios } from '../../src/scenarios.ts';
import { System } from '../../src/system.ts';
import { inspect } from '../../src/wire.ts';

/** Without stand-ins. Each test continues from the state of the one before it. */
let system: System;
let scenarios: Scenarios;
let added: Awaited<ReturnType<Scenarios['addNode']>>;

beforeAll(async () => {
  system = await System.start();
  await system.install();
  scenarios = await Scenarios.start(system);
}, 180_000);
afterAll(() => system.stop());
beforeEach(() => onTestFailed(() => console.error(system.logs)));

/** The failed calls. Throws if there were too few calls. */
const failedIn = ({ calls, failed }: Tally): readonly object[] => {
  expect(calls.length).toBeGreaterThan(20);
  return failed;
};

it('answers a Pod of c1 by the name of c2, unreadable on the wire', async () => {
  const capture = await system.network.node('c1-n1').capture();
  const said = 'what nobody else is to read';
  expect(await scenarios.curl(said)).toEqual({
    by: expect.stringMatching(/^web-v1-\d$/),
    seen: scenarios.caller.ips[0],
    said,
  });
  const wire = inspect(await capture.stop(), said);
  // A TCP connection has at least seven packets: three to open it, a request, an answer, and a FIN from each side.
  expect(wire.encrypted).toBeGreaterThanOrEqual(7);
  expect(wire.readable).toBe(0);
});

it('lets c2 identify the caller by its address', async () => {
  await eventually(() => system.netsOf('c1-shop-checkout'), [`${scenarios.caller.ips[0]}/32`]);
});

it('loses no call in a rollout of c2', async () => {
  const tally = await scenarios.rollOut('v2');
  expect(failedIn(tally)).toEqual([]);
  expect(new Set(tally.calls.map(({ by }) => by?.slice(0, 6)))).toEqual(new Set(['web-v1', 'web-v2']));
});

it('loses no call when c2 gets a node, and reaches a Pod on it', async () => {
  added = await scenarios.addNode();
  expect(failedIn(added)).toEqual([]);
});

it('loses only calls to a lost node, until c2 marks its Pod unready', async () => {
  const { calls, failed, ledTo } = await scenarios.loseNode(added);
  expect(ledTo).toEqual(new Set(added.pod.ips));
  expect(failed.length).toBeLessThan(calls.length / 2);
});

it('loses no call while the API server of c2 is down, and reaches it again afterwards', async () => {
  expect(failedIn(await scenarios.loseApiserver(5_000))).toEqual([]);
}, 120_000);
