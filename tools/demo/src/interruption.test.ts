import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { Interruption, untilAborted } from './interruption.ts';

const never = new Promise<never>(() => {});

it('settles as the work does, and leaves no listener', async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
  await expect(untilAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('rejects with the reason when the signal is aborted', async () => {
  const controller = new AbortController();
  const outcome = untilAborted(never, controller.signal);
  controller.abort(new Interruption('SIGINT'));
  await expect(outcome).rejects.toBeInstanceOf(Interruption);
});

it('rejects at once when the signal was aborted before', async () => {
  await expect(untilAborted(never, AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
});
