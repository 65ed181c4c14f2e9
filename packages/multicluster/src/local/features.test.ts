import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@kube-semaphore/eventually';
import { KubeApiError } from '@kube-semaphore/kube-client';
import type { Leadership } from '@kube-semaphore/leader-election';
import { expect, it, onTestFinished } from 'vitest';
import { type Feature, Leader } from './features.ts';

const denied = new KubeApiError('services "web" is forbidden: exceeded quota: few', { status: 403 });

/**
 * A replica that may lead, and whose writes fail. @param error refused, it waits for a minute. @returns `ended`: keys that had a turn
 */
function start(error: Error = denied) {
  const reconciled: string[] = [];
  const sent: string[] = [];
  const ended: string[] = [];
  const leadership = { isLeader: false };
  let startedLeading = (): void => undefined;
  const aborter = new AbortController();
  const { signal } = aborter;
  const leader = new Leader({
    leadership: {
      get isLeader() {
        return leadership.isLeader;
      },
      guard: () => Promise.reject(new Error('not asked for')),
      run: ({ onStartedLeading }: Parameters<Leadership['run']>[0]) => {
        startedLeading = () => onStartedLeading({ signal });
        return delay(3_600_000, undefined, { signal, ref: false }).catch(() => undefined);
      },
    },
    options: { writeConcurrency: 1, minWriteIntervalMs: 0 },
    metrics: { failingObjects: { reset: () => undefined, set: () => undefined } } as never,
  });
  const feature: Feature = {
    reconcile: async (key, { writes }) => {
      reconciled.push(key);
      const send = (): Promise<never> => {
        sent.push(key);
        return Promise.reject(error);
      };
      await writes.write({ object: 'Service web', change: 'x', send });
    },
    failed: () => undefined,
    startLeading: () => queue.enqueue(['key']),
  };
  const queue = leader.queue(feature, {
    observer: { added: () => undefined, started: () => undefined, ended: (key) => void ended.push(key) },
  });
  const running = leader.run({ signal });
  onTestFinished(async () => {
    aborter.abort();
    await running;
  });
  const lead = (): void => {
    leadership.isLeader = true;
    startedLeading();
  };
  return { queue, leadership, lead, reconciled, sent, ended };
}

it('a standby decides nothing', async () => {
  const { queue, lead, reconciled, ended } = start();
  queue.enqueue(['other']);
  await eventually(() => ended, ['other']);
  expect(reconciled).toEqual([]);
  lead();
  await eventually(() => reconciled, ['key']);
});

it('what waits is tried again in the next term, and by an urgent event, but by no other', async () => {
  const { queue, leadership, lead, reconciled, sent } = start();
  lead();
  await eventually(() => sent.length, 1);
  queue.enqueue(['key']);
  await eventually(() => [reconciled.length, sent.length], [2, 1]);
  leadership.isLeader = false;
  lead();
  await eventually(() => [reconciled.length, sent.length], [3, 2]);
  queue.enqueue(['key'], 1, { isUrgent: true });
  await eventually(() => [reconciled.length, sent.length], [4, 3]);
});

it('all keys come at once for the first who asks, and once for all who ask meanwhile', async () => {
  const { queue, leadership, reconciled } = start();
  leadership.isLeader = true;
  let asked = 0;
  let reconciledBefore = 0;
  const keys = Array.from({ length: 300 }, (_, i) => `key ${i}`);
  const askAll = (): void =>
    queue.enqueueAll(() => {
      asked++;
      reconciledBefore = reconciled.length;
      return keys;
    });
  for (let i = 0; i < 250; i++) askAll();
  // A busy machine may take a pause, too.
  expect(asked).toBeLessThan(5);
  const before = asked;
  await eventually(() => asked, before + 1);
  // A key that still waits is queued once.
  await eventually(() => new Set(reconciled.slice(reconciledBefore)).size, 300);
});

it('a standby counts no object as failing, although it tried to write it as the leader', async () => {
  const { queue, leadership, lead, sent } = start(new Error('unreachable'));
  const failing = () => Object.fromEntries(queue.failing({ forMs: 0 }));
  lead();
  await eventually(() => sent.length > 1, true);
  await eventually(failing, { Service: 1 });
  leadership.isLeader = false;
  await eventually(failing, {});
});
