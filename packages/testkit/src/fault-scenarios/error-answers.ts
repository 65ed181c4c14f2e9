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

/** All that changes an object. */
const writes: readonly RequestFilter[] = [{ method: 'POST' }, { method: 'PUT' }, { method: 'DELETE' }];

const STRUCK = 6;

/** Requests that a fault struck. */
export const struck = (proxy: FaultProxy): readonly SeenRequest[] =>
  proxy.requests().filter(({ faults }) => faults.length > 0);

/** Changes something until a fault struck some local writes. */
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

/** The milliseconds between two updates of one object. */
export function pausesOf(requests: readonly SeenRequest[]): readonly number[] {
  const updates = requests.filter(({ method }) => method === 'PUT');
  const tries = [...Map.groupBy(updates, ({ target }) => target).values()];
  return tries.flatMap((each) => each.slice(1).map(({ at }, index) => at - each[index]!.at));
}
