import { KubeApiError } from '@kube-semaphore/kube-client';
import { expect, it } from 'vitest';
import { foreseeRefusals, type PlannedWrite, refusalLines } from './refusals.ts';

const run = { signal: new AbortController().signal, timeoutMs: 60_000 };
const quota = new KubeApiError('exceeded quota: few\u001b[2J', { status: 403 });
const forbidden = new KubeApiError('services is forbidden: User "u" cannot create resource "services"', {
  status: 403,
});
const noDryRuns = new KubeApiError('admission webhook "w" does not support dry run', { status: 400 });

/** A write with this answer, and how it was sent. */
function write(object: string, answer?: Error) {
  const sent: (boolean | undefined)[] = [];
  const planned: PlannedWrite = {
    object,
    send: async ({ dryRun }) => {
      sent.push(dryRun);
      if (answer !== undefined) throw answer;
    },
  };
  return { planned, sent };
}

it('asks by dry runs, and quotes what the API server refuses', async () => {
  const writes = [write('Service a', quota), write('Service b'), write('Service c', quota)];
  const refusals = await foreseeRefusals(
    writes.map(({ planned }) => planned),
    run,
  );
  expect(writes.flatMap(({ sent }) => sent)).toEqual([true, true, true]);
  expect(refusalLines(refusals)).toEqual([
    '',
    String.raw`refuse! Service a: "exceeded quota: few\\u001b[2J"`,
    String.raw`refuse! Service c: "exceeded quota: few\\u001b[2J"`,
  ]);
});

it('says once why it is unknown what is refused', async () => {
  const writes = [
    ...['a', 'b'].map((name) => write(`Service ${name}`, forbidden).planned),
    ...['c', 'd'].map((name) => write(`Service ${name}`, noDryRuns).planned),
  ];
  expect(refusalLines(await foreseeRefusals(writes, run))).toEqual([
    '',
    'refuse? unknown for 4 changes: this account may not make them; ' +
      String.raw`"admission webhook \"w\" does not support dry run"`,
  ]);
});

it('asks about 200 changes only', async () => {
  const writes = Array.from({ length: 1_000 }, (_, i) => write(`Service ${i}`));
  const refusals = await foreseeRefusals(
    writes.map(({ planned }) => planned),
    run,
  );
  expect(writes.flatMap(({ sent }) => sent)).toHaveLength(200);
  expect(refusals).toEqual({ refused: [], unknown: { count: 800, reasons: ['only 200 are asked about'] } });
});

it('ends in time if there is no answer, and at once if it is stopped', async () => {
  const hanging: PlannedWrite = {
    object: 'Service a',
    send: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  };
  expect(await foreseeRefusals([hanging], { ...run, timeoutMs: 10 })).toEqual({
    refused: [],
    unknown: { count: 1, reasons: ['there was no answer in time'] },
  });
  const stopping = new AbortController();
  const foreseen = foreseeRefusals([hanging], { ...run, signal: stopping.signal });
  stopping.abort(new Error('stopped'));
  await expect(foreseen).rejects.toThrow('stopped');
});

it('has no line if nothing is refused', () => {
  expect(refusalLines({ refused: [], unknown: { count: 0, reasons: [] } })).toEqual([]);
});
