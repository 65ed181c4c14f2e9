import { expect, it } from 'vitest';
import { shared } from './shared.ts';

const { signal } = new AbortController();

/** A call that is shared, whose runs end one after the other when the test says so. */
function sharedCall() {
  const runs: (PromiseWithResolvers<string> & { readonly signal: AbortSignal })[] = [];
  const call = shared(({ signal: ending }) => {
    const run = Promise.withResolvers<string>();
    runs.push({ ...run, signal: ending });
    ending.addEventListener('abort', () => run.reject(ending.reason as Error));
    return run.promise;
  });
  return { runs, call };
}

/** After all that is ready has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

it('gives calls that come while one runs the next run, which begins after all of them', async () => {
  const { runs, call } = sharedCall();
  const first = call({ signal });
  await settled();
  const others = Promise.all([call({ signal }), call({ signal })]);
  await settled();
  expect(runs).toHaveLength(1);
  runs[0]!.resolve('before');
  expect(await first).toBe('before');
  await settled();
  expect(runs).toHaveLength(2);
  runs[1]!.resolve('after');
  expect(await others).toEqual(['after', 'after']);
});

it('runs again after an error, which each of its callers gets', async () => {
  const { runs, call } = sharedCall();
  const failing = Promise.allSettled([call({ signal }), call({ signal })]);
  await settled();
  runs[0]!.reject(new Error('no wg'));
  expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const next = call({ signal });
  await settled();
  runs[1]!.resolve('fine');
  expect(await next).toBe('fine');
});

it('lets a caller leave, and aborts a run when all have left', async () => {
  const { runs, call } = sharedCall();
  const [one, other] = [new AbortController(), new AbortController()];
  const calls = [one, other].map((caller) => call(caller).catch((error: unknown) => error));
  await settled();
  one.abort('one');
  expect([await calls[0], runs[0]!.signal.aborted]).toEqual(['one', false]);
  other.abort('other');
  expect([await calls[1], runs[0]!.signal.aborted]).toEqual(['other', true]);
});

it('does not let the callers who left a run before it began end that of a later one', async () => {
  const { runs, call } = sharedCall();
  const first = call({ signal });
  await settled();
  const caller = new AbortController();
  const waiting = call(caller).catch((error: unknown) => error);
  caller.abort('gone');
  const later = call({ signal });
  expect(await waiting).toBe('gone');
  runs[0]!.resolve('first');
  await first;
  await settled();
  expect(runs).toHaveLength(2);
  runs[1]!.resolve('later');
  expect(await later).toBe('later');
});
