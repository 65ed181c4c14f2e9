import { describe, expect, it } from 'vitest';
import { liveness, readiness } from './health.ts';

describe('liveness', () => {
  const loops = [
    { name: 'local sets', silentMs: 0 },
    { name: 'remote pods', silentMs: 100_000 },
  ];

  it.each([
    { name: 'is live while every loop is active', input: { loops, longestReconcileMs: 10 }, want: { ok: true } },
    {
      name: 'names the watch that hangs',
      input: { loops: [...loops, { name: 'c3', silentMs: 240_001 }], longestReconcileMs: 10 },
      want: { ok: false, reason: 'the watch of c3 hangs' },
    },
    {
      name: 'fails when a reconcile hangs',
      input: { loops, longestReconcileMs: 300_001 },
      want: { ok: false, reason: 'a reconcile hangs' },
    },
  ])('$name', ({ input, want }) => {
    expect(liveness({ ...input, idleTimeoutMs: 90_000 })).toEqual(want);
  });
});

describe('readiness', () => {
  const remotes = [
    { name: 'c2', synced: true },
    { name: 'c3', synced: false },
  ];

  it.each([
    {
      name: 'waits for the local side',
      localSynced: false,
      remotes: [],
      watchedMs: undefined,
      want: 'the local cluster is not listed yet',
    },
    {
      name: 'waits for a remote, and names it',
      localSynced: true,
      remotes,
      watchedMs: 1_000,
      want: 'waiting for the first list of c3',
    },
    {
      name: 'waits no longer than 30 s for a dead remote',
      localSynced: true,
      remotes,
      watchedMs: 30_001,
      want: undefined,
    },
    {
      name: 'is ready at once when all are synced',
      localSynced: true,
      remotes: remotes.slice(0, 1),
      watchedMs: 5,
      want: undefined,
    },
  ])('$name', ({ want, ...input }) => {
    expect(readiness(input)).toEqual(want === undefined ? { ok: true } : { ok: false, reason: want });
  });
});
