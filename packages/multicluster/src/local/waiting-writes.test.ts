import { KubeApiError } from '@kube-semaphore/kube-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RemoteWritesError } from './remote-writes.ts';
import { type KeyWrites, WaitingWrites } from './waiting-writes.ts';
import type { FailedWrite } from './write-log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const busy = new KubeApiError('busy', { status: 503 });
const denied = new KubeApiError('services "web" is forbidden: exceeded quota: few', { status: 403 });

/** One key, and an API server: `answers` has what it does with the next write of an object, `sent` what it received. */
function start() {
  const sent: string[] = [];
  const failures: FailedWrite[] = [];
  const due: (number | undefined)[] = [];
  const answers = new Map<string, Error | Promise<string>>();
  const waiting = new WaitingWrites({
    onFailure: (failure) => void failures.push(failure),
    onDue: (_, since) => void due.push(since),
  });
  /** A reconcile that wants these changes: an object, or `object=change`. */
  const reconcile = async (wants: readonly string[], since?: number): Promise<KeyWrites> => {
    const writes = waiting.begin('key', { since });
    const writing = wants.map((want) => {
      const [object = '', change = 'x'] = want.split('=');
      const send = async (): Promise<string> => {
        sent.push(want);
        const answer = answers.get(object);
        if (answer instanceof Error) throw answer;
        return (await answer) ?? 'changed';
      };
      return writes.write({ object, change: { change }, send, isNoop: (answer) => answer === 'as before' });
    });
    await Promise.all(writing);
    waiting.end(writes);
    return writes;
  };
  return { reconcile, answers, sent: () => sent.splice(0), failures, due, waiting };
}

const later = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('a write that fails', () => {
  it('delays no other object, and is tried again after a pause that doubles, up to ten seconds', async () => {
    const { reconcile, answers, sent, failures, due } = start();
    answers.set('a', busy);
    const writes = await reconcile(['a', 'b'], 7);
    expect(sent()).toEqual(['a', 'b']);
    expect(writes).toMatchObject({ isBusy: true, hasFailed: true, unwritten: [{ object: 'a', error: busy }] });
    await reconcile(['a', 'c']);
    expect(sent()).toEqual(['c']);
    for (let attempt = 0; attempt < 10; attempt += 1) {
      await later(failures.at(-1)!.retryInMs);
      // As old as the event that asked for it.
      expect(due.splice(0)).toEqual([7]);
      await reconcile(['a']);
      expect(sent()).toEqual(['a']);
    }
    expect(failures.map(({ retryInMs }) => retryInMs)).toEqual([
      50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000,
    ]);
  });

  it('waits as long as the API server or the budget asks for', async () => {
    const { reconcile, answers, failures } = start();
    answers.set('a', new RemoteWritesError('c2', 3_000));
    await reconcile(['a']);
    expect(failures).toMatchObject([{ key: 'key', object: 'a', retryInMs: 3_000 }]);
  });

  it('for a budget keeps no other change of its object, for which another remote may pay', async () => {
    const { reconcile, answers, sent } = start();
    answers.set('a', new RemoteWritesError('global', 3_000));
    await reconcile(['a=order']);
    answers.delete('a');
    await reconcile(['a=order']);
    expect(sent()).toEqual(['a=order']);
    await reconcile(['a=endpoints']);
    expect(sent()).toEqual(['a=endpoints']);
  });

  it('gives the turn of its key to others when nothing of that waits any more', async () => {
    const { reconcile, answers } = start();
    const withdrawn: string[] = [];
    for (const object of ['a', 'b'])
      answers.set(object, new RemoteWritesError('global', 3_000, () => void withdrawn.push(object)));
    await reconcile(['a', 'b']);
    await reconcile(['b']);
    expect(withdrawn.splice(0)).toEqual([]);
    await reconcile([]);
    expect(withdrawn.splice(0)).toEqual(['b']);

    await reconcile(['a']);
    answers.delete('a');
    await reconcile(['a=its deletion']);
    expect(withdrawn).toEqual(['a']);
  });

  it('waits whatever its object should become', async () => {
    const { reconcile, answers, sent } = start();
    answers.set('a', busy);
    await reconcile(['a=1']);
    await reconcile(['a=2']);
    expect(sent()).toEqual(['a=1']);
  });

  it('begins anew when it succeeded, or was not wanted meanwhile', async () => {
    const { reconcile, answers, sent, failures, due } = start();
    answers.set('a', busy);
    await reconcile(['a']);
    await reconcile([]);
    await reconcile(['a']);
    expect(sent()).toEqual(['a', 'a']);
    answers.clear();
    await later(50);
    expect(due).toHaveLength(1);
    expect(await reconcile(['a'])).toMatchObject({ hasFailed: false, unwritten: [] });
    answers.set('a', busy);
    await reconcile(['a']);
    expect(failures.map(({ retryInMs }) => retryInMs)).toEqual([50, 50, 50]);
  });

  it('is tried at once when everything is forgotten', async () => {
    const { reconcile, answers, sent, waiting } = start();
    answers.set('a', busy);
    await reconcile(['a']);
    waiting.forget();
    await reconcile(['a']);
    waiting.forget(['other']);
    await reconcile(['a']);
    expect(sent()).toEqual(['a', 'a']);
  });
});

it('objects count by kind when they have failed for a minute, without those that are refused', async () => {
  const { reconcile, answers, waiting } = start();
  answers.set('Service a', busy).set('Service b', busy).set('Service c', denied);
  const wants = ['Service a', 'Service b', 'Service c', 'Service d'];
  const failing = () => Object.fromEntries(waiting.failing({ forMs: 60_000 }));
  await reconcile(wants);
  await later(59_999);
  await reconcile(wants);
  expect(failing()).toEqual({});
  await later(1);
  expect(failing()).toEqual({ Service: 2 });
  answers.delete('Service a');
  await later(10_000);
  await reconcile(wants);
  expect(failing()).toEqual({ Service: 1 });
});

describe('a write that is refused', () => {
  it.each([
    new KubeApiError('bad', { status: 400 }),
    denied,
    new KubeApiError('admission webhook "w" denied the request: User "u" cannot create resource "x"', { status: 403 }),
    new KubeApiError('too large', { status: 413 }),
    new KubeApiError('invalid', { status: 422 }),
  ])('with $status is sent again when it changes, or after a minute, and then less and less often', async (refusal) => {
    const { reconcile, answers, sent, failures, due } = start();
    answers.set('a', refusal);
    const writes = await reconcile(['a=1']);
    expect(writes).toMatchObject({ hasFailed: false, unwritten: [{ object: 'a', error: refusal }] });
    expect(await reconcile(['a=1'])).toMatchObject({ isBusy: false, unwritten: [{ object: 'a', error: refusal }] });
    await reconcile(['a=2']);
    await reconcile(['a=2']);
    expect(sent()).toEqual(['a=1', 'a=2']);
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await later(failures.at(-1)!.retryInMs);
      expect(due.splice(0)).toHaveLength(1);
      await reconcile(['a=2']);
    }
    expect(failures.map(({ retryInMs }) => retryInMs / 60_000)).toEqual([1, 2, 4, 8, 10, 10, 10]);
  });

  it('is not one for want of a right', async () => {
    const { reconcile, answers, failures } = start();
    const message =
      'services is forbidden: User "u" cannot create resource "services" in API group "" in the namespace "x"';
    answers.set('a', new KubeApiError(message, { status: 403 }));
    expect((await reconcile(['a'])).hasFailed).toBe(true);
    expect(failures).toMatchObject([{ retryInMs: 50 }]);
  });
});

it('a write that changes nothing is not sent again until it changes', async () => {
  const { reconcile, answers, sent, due } = start();
  answers.set('a', Promise.resolve('as before'));
  await reconcile(['a=1']);
  expect(await reconcile(['a=1'])).toMatchObject({
    isBusy: false,
    hasFailed: false,
    unwritten: [{ object: 'a', error: undefined }],
  });
  await later(3_600_000);
  expect(due).toEqual([]);
  await reconcile(['a=2']);
  expect(sent()).toEqual(['a=1', 'a=2']);
});

describe('a write without an answer', () => {
  it('is left after a second, and wakes its key when the answer comes', async () => {
    const { reconcile, answers, sent, due, waiting } = start();
    const { promise, resolve } = Promise.withResolvers<string>();
    answers.set('a', promise);
    const first = reconcile(['a', 'b'], 7);
    await later(999);
    expect(sent()).toEqual(['a', 'b']);
    await later(1);
    expect(await first).toMatchObject({ unwritten: [{ object: 'a', error: undefined }] });
    waiting.forget();
    await reconcile(['a', 'c']);
    // What a reconcile doesn't want any more is still under way.
    await reconcile([]);
    await reconcile(['a']);
    expect([sent(), due]).toEqual([['c'], []]);
    resolve('changed');
    await later(0);
    expect(due).toEqual([7]);
    await reconcile(['a']);
    expect(sent()).toEqual(['a']);
  });

  it('is left the sooner, the more answers are late', async () => {
    const { reconcile, answers } = start();
    const { promise, resolve } = Promise.withResolvers<string>();
    const began = Date.now();
    for (let i = 0; i < 100; i += 1) {
      answers.set(`a${i}`, promise);
      const reconciling = reconcile([`a${i}`]);
      await vi.advanceTimersToNextTimerAsync();
      await reconciling;
    }
    // The sum of 1/n.
    expect(Date.now() - began).toBeLessThan(6_000);
    resolve('changed');
    await later(0);
    answers.set('b', new Promise(() => {}));
    let isLeft = false;
    const next = reconcile(['b']).then(() => (isLeft = true));
    await later(999);
    expect(isLeft).toBe(false);
    await later(1);
    await next;
  });

  it('waits like others if the answer is an error', async () => {
    const { reconcile, answers, sent, failures, due } = start();
    const { promise, reject } = Promise.withResolvers<string>();
    answers.set('a', promise);
    const first = reconcile(['a']);
    await later(1_000);
    await first;
    reject(busy);
    await later(0);
    expect([failures.length, due.length]).toEqual([1, 1]);
    await reconcile(['a']);
    await later(50);
    expect([sent(), due.length]).toEqual([['a'], 2]);
  });
});
