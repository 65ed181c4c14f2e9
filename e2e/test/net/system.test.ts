import { eventually } from '@kube-semaphore/eventually';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFailed } from 'vitest';
import type { Tally } from '../../src/calls.ts';
import { Scenarios } from '../../src/scenarios.ts';
import { System } from '../../src/system.ts';
import { inspect } from '../../src/wire.ts';

/** Nothing stands in for anything else here, and each test goes on where the one before it ended. */
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

/** The calls that failed, if there were enough of them for that to say anything. */
const failedIn = ({ calls, failed }: Tally): readonly object[] => {
  expect(calls.length).toBeGreaterThan(20);
  return failed;
};

it('answers a Pod of c1 by the name of c2, and nobody on the way can read it', async () => {
  const capture = await system.network.node('c1-n1').capture();
  const said = 'what nobody else is to read';
  expect(await scenarios.curl(said)).toEqual({
    by: expect.stringMatching(/^web-v1-\d$/),
    seen: scenarios.caller.ips[0],
    said,
  });
  const wire = inspect(await capture.stop(), said);
  // A connection of TCP is seven packets at least: three to open it, a request, an answer, and an end from each side.
  expect(wire.encrypted).toBeGreaterThanOrEqual(7);
  expect(wire.readable).toBe(0);
});

it('lets c2 know the caller by the address that it comes from', async () => {
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

it('loses but the calls that were led to a lost node, until c2 knows that its Pod is gone', async () => {
  const { calls, failed, ledTo } = await scenarios.loseNode(added);
  expect(ledTo).toEqual(new Set(added.pod.ips));
  expect(failed.length).toBeLessThan(calls.length / 2);
});

it('loses no call while the API server of c2 is down, and sees it again afterwards', async () => {
  expect(failedIn(await scenarios.loseApiserver(5_000))).toEqual([]);
}, 120_000);
