import { afterAll, beforeAll, beforeEach, expect, it, onTestFailed } from 'vitest';
import type { Call } from '../../src/calls/calls.ts';
import { Scenarios } from '../../src/scenarios.ts';
import { System } from '../../src/system.ts';
import { failedIn, mostlyAnswered } from '../support/tally.ts';

/** Each test continues from the state of the one before it. */
let system: System;
let scenarios: Scenarios;
let added: Awaited<ReturnType<Scenarios['addNode']>>;

beforeAll(async () => {
  system = await System.start({ c2Kubernetes: 'kubernetes-newer' });
  await system.install();
  scenarios = await Scenarios.start(system, 30_000);
  added = await scenarios.addNode();
});
afterAll(() => system.stop());
beforeEach(() => onTestFailed(async () => console.error(await system.logs())));

it('loses only calls to a lost node, until c2 marks its Pod unready', async () => {
  const tally = await scenarios.loseNode(added.node);
  const ledTo = (call: Call): boolean => call.to === added.pod.status.podIP;
  expect(tally.failed.filter((call) => !ledTo(call))).toEqual([]);
  expect(tally.failed.some(ledTo)).toBe(true);
  expect(mostlyAnswered(tally)).toBe(true);
});

it('calls the Pod on a lost node again when the node is back', async () => {
  expect(mostlyAnswered(await scenarios.returnNode(added.node))).toBe(true);
});

it('loses no call when API servers and etcd restart', async () => {
  expect(failedIn(await scenarios.restartControlPlanes())).toEqual([]);
});

it('loses no call when c2 gets another CA, and the old one is removed', async () => {
  expect(failedIn(await scenarios.changeCa())).toEqual([]);
});
