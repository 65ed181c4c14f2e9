import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { eventually } from '@kube-semaphore/eventually';
import type { Fault, FaultProxy, RequestFilter, SeenRequest } from '@kube-semaphore/fault-proxy';
import type { Lab } from './lab.ts';
import type { FaultScenario } from './fault-scenario.ts';

type ErrorAnswers = {
  readonly name: string;
  readonly fault: Fault;
  readonly filter?: RequestFilter;
  readonly reason: string;
};

/** Errors that an API server may answer for a while, and why a watch is opened again then. */
export const errorAnswers: readonly ErrorAnswers[] = [
  {
    name: '410 to every watch',
    fault: { kind: 'answer', status: 410, as: 'event' },
    filter: { verb: 'watch' },
    reason: 'expired',
  },
  { name: '410 to everything', fault: { kind: 'answer', status: 410 }, reason: 'expired' },
  { name: '429 with Retry-After', fault: { kind: 'answer', status: 429, retryAfterSeconds: 1 }, reason: 'throttled' },
  { name: '500', fault: { kind: 'answer', status: 500 }, reason: 'server_error' },
  {
    name: '500 to every second request',
    fault: { kind: 'answer', status: 500 },
    filter: { every: 2 },
    reason: 'server_error',
  },
];

/** Error answers cost nothing but time, on either side. */
export async function surviveErrorAnswers(
  { begin, proxies }: Lab,
  { fault, filter, reason }: ErrorAnswers,
): Promise<void> {
  const scenario = await begin();
  // One after the other: what the remote's answers change locally would be undone before the local one lets it be seen.
  for (const side of ['remote', 'local'] as const) {
    await proxies[side].set(fault, filter);
    // What is open would last until the end of it otherwise, and what was let through as well.
    await proxies[side].set({ kind: 'cut', everyMs: 500, by: 'reset' }, { verb: 'watch' });
    // The third failure in a row has a watch list anew.
    await scenario.changeUntil(
      async () => (await scenario.restarts(side, reason)) >= 3 && scenario.restarted(side, { reason, times: 2 }),
    );
    await proxies[side].clear();
    await scenario.survived();
  }
}

/** All that changes an object. */
const writes: readonly RequestFilter[] = [{ method: 'POST' }, { method: 'PUT' }, { method: 'DELETE' }];

const STRUCK = 6;

/** Requests that a fault struck. */
export const struck = (proxy: FaultProxy): readonly SeenRequest[] =>
  proxy.requests().filter(({ faults }) => faults.length > 0);

/** Changes something until some local writes were struck, of which the program knows no more than that they were sent. */
export async function strikeWrites(
  { proxies: { local } }: Pick<Lab, 'proxies'>,
  scenario: FaultScenario,
  fault: Fault,
): Promise<void> {
  // A late answer to an earlier write would count as a recovery while others fail.
  await eventually(() => local.underWay().filter(({ method }) => method !== 'GET'), []);
  for (const filter of writes) await local.set(fault, filter);
  await scenario.changeUntil(() => struck(local).length >= STRUCK);
}

/** Ways in which all local writes may fail. */
export const writeFailures: readonly { readonly name: string; readonly fault: Fault }[] = [
  { name: 'answered 500', fault: { kind: 'answer', status: 500 } },
  { name: 'answered 429', fault: { kind: 'answer', status: 429, retryAfterSeconds: 1 } },
  { name: 'reset before they arrive', fault: { kind: 'reset', connections: 'new' } },
];

/**
 * Writes that all fail are tried again, and complained about once.
 *
 * @param complaint the log's message
 */
export async function failWrites(lab: Lab, fault: Fault, complaint: string): Promise<void> {
  const scenario = await lab.begin({ flags: { 'log-level': 'debug' } });
  await strikeWrites(lab, scenario, fault);
  const { program } = scenario;
  // After the first one they are told at debug.
  await eventually(() => program.log().filter(({ msg }) => msg === complaint).length > 1, true);
  const warnings = program.log().filter(({ level }) => level === 'warn');
  deepStrictEqual(
    warnings.map(({ msg }) => msg),
    [complaint],
  );
  strictEqual(await scenario.isUp('local'), 0);
  await lab.proxies.local.clear();
  // So that there is something to write, also where the changes have undone each other.
  await scenario.tamper();
  await scenario.survived();
  await program.logged('local writes recovered');
}

/** Writes that are carried out, and whose answers are lost, have their effect all the same. */
export async function loseAnswers(lab: Lab): Promise<void> {
  const scenario = await lab.begin();
  await strikeWrites(lab, scenario, { kind: 'truncate', after: 0, by: 'reset' });
  await scenario.settled();
  await lab.proxies.local.clear();
  await scenario.survived();
}

/** Writes that are refused by 429 are tried again no sooner than it says. */
export async function throttleWrites(lab: Lab): Promise<void> {
  const scenario = await lab.begin();
  await strikeWrites(lab, scenario, { kind: 'answer', status: 429, retryAfterSeconds: 1 });
  // More than one try of one object.
  await scenario.changeUntil(() => pausesOf(struck(lab.proxies.local)).length > 0);
  // A timer may go off a millisecond early.
  const tooSoon = pausesOf(struck(lab.proxies.local)).filter((ms) => ms < 999);
  deepStrictEqual(tooSoon, []);
  await lab.proxies.local.clear();
  await scenario.survived();
}

/** The milliseconds between two updates of one object. */
export function pausesOf(requests: readonly SeenRequest[]): readonly number[] {
  const updates = requests.filter(({ method }) => method === 'PUT');
  const tries = [...Map.groupBy(updates, ({ target }) => target).values()];
  return tries.flatMap((each) => each.slice(1).map(({ at }, index) => at - each[index]!.at));
}

/**
 * Writes that are refused by 409 are decided anew, which is no trouble.
 *
 * @param complaint the log's message, at debug
 */
export async function refuseWrites(lab: Lab, complaint: string): Promise<void> {
  const scenario = await lab.begin({ flags: { 'log-level': 'debug' } });
  await strikeWrites(lab, scenario, { kind: 'answer', status: 409 });
  await lab.proxies.local.clear();
  await scenario.survived();
  await scenario.program.logged(complaint, { level: 'debug' });
  deepStrictEqual(
    scenario.program.log().filter(({ level }) => level === 'warn'),
    [],
  );
}
