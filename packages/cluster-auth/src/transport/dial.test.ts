import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { attemptMs, dial, type Network } from './dial.ts';

const target = { host: 'api.c2.example', port: 6443 };
const { signal } = new AbortController();

/** What an address does, after some time. `silent` never answers. */
type Behaviour = 'silent' | { readonly afterMs: number; readonly code?: string };

/** A network whose name has these addresses, in this order. */
function networkOf(behaviours: Readonly<Record<string, Behaviour>>) {
  /** Each address with the time when it is tried. */
  const begun: string[] = [];
  const open = new Set<Socket>();
  const startMs = performance.now();
  const network: Network = {
    resolve: async (host) =>
      Object.keys(behaviours).map((address) => ({ address, family: address.includes(':') ? 6 : 4, host })),
    begin: ({ host }) => {
      begun.push(`${host} at ${Math.round(performance.now() - startMs)}`);
      const socket = new Socket();
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      const behaviour = behaviours[host]!;
      if (behaviour !== 'silent') {
        const { afterMs, code } = behaviour;
        const error = Object.assign(new Error(`connect ${code} ${host}:6443`), { code });
        setTimeout(() => (code === undefined ? socket.emit('connect') : socket.destroy(error)), afterMs);
      }
      return socket;
    },
  };
  return { network, begun, open };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Dials until the end. */
async function dialed(
  behaviours: Readonly<Record<string, Behaviour>>,
  { host = target.host, ...changes }: Partial<Network> & { readonly host?: string } = {},
) {
  const { network, begun, open } = networkOf(behaviours);
  const outcome = dial({ ...target, host }, { signal }, { ...network, ...changes }).then(
    () => 'connected',
    (error: Error & { code?: string }) => error,
  );
  await vi.advanceTimersByTimeAsync(60_000);
  return { outcome: await outcome, begun, open: open.size };
}

describe('dial', () => {
  it.each<{ name: string; addresses: Record<string, Behaviour>; begun: readonly string[] }>([
    {
      name: 'a far address, which needs more than the 250 ms of Node.js',
      addresses: { '10.0.0.1': { afterMs: 4_000 }, '10.0.0.2': 'silent' },
      begun: ['10.0.0.1 at 0'],
    },
    {
      name: 'the second address, after half of the time',
      addresses: { '10.0.0.1': 'silent', '10.0.0.2': { afterMs: 600 } },
      begun: ['10.0.0.1 at 0', '10.0.0.2 at 15000'],
    },
    {
      name: 'the second address at once if the first has no route',
      addresses: { '10.0.0.1': { afterMs: 0, code: 'ENETUNREACH' }, '10.0.0.2': { afterMs: 600 } },
      begun: ['10.0.0.1 at 0', '10.0.0.2 at 0'],
    },
    {
      name: 'the other family, which begins 300 ms later',
      addresses: { 'fd00::1': 'silent', '10.0.0.1': { afterMs: 600 } },
      begun: ['fd00::1 at 0', '10.0.0.1 at 300'],
    },
    {
      name: 'the other family at once if the first has no route',
      addresses: { 'fd00::1': { afterMs: 0, code: 'ENETUNREACH' }, '10.0.0.1': { afterMs: 600 } },
      begun: ['fd00::1 at 0', '10.0.0.1 at 0'],
    },
    {
      name: 'the first family, without the other if it answers early',
      addresses: { 'fd00::1': { afterMs: 200 }, '10.0.0.1': { afterMs: 0 } },
      begun: ['fd00::1 at 0'],
    },
    {
      name: 'the first family if the other has no route',
      addresses: { '10.0.0.1': { afterMs: 900 }, 'fd00::1': { afterMs: 0, code: 'ENETUNREACH' } },
      begun: ['10.0.0.1 at 0', 'fd00::1 at 300'],
    },
  ])('reaches $name', async ({ addresses, begun }) => {
    // One is left: the winner.
    expect(await dialed(addresses)).toEqual({ outcome: 'connected', begun, open: 1 });
  });

  it('fails after 30 s with one error that names all addresses, and leaves none open', async () => {
    const { outcome, begun, open } = await dialed({
      '10.0.0.1': 'silent',
      'fd00::1': { afterMs: 50, code: 'EHOSTUNREACH' },
      '10.0.0.2': 'silent',
    });
    expect(begun).toEqual(['10.0.0.1 at 0', 'fd00::1 at 300', '10.0.0.2 at 15000']);
    expect(outcome).toMatchObject({
      message:
        'no address of api.c2.example:6443 can be reached: fd00::1 (EHOSTUNREACH), 10.0.0.1 (ETIMEDOUT), 10.0.0.2 (ETIMEDOUT)',
    });
    expect(open).toBe(0);
  });

  it('leaves one connection open if both families answer at once', async () => {
    const { network, open } = networkOf({ 'fd00::1': 'silent', '10.0.0.1': 'silent' });
    const dialing = dial(target, { signal }, network);
    await vi.advanceTimersByTimeAsync(400);
    const both = [...open];
    for (const socket of both) socket.emit('connect');
    const winner = await dialing;
    await vi.advanceTimersByTimeAsync(0);
    expect([both.length, [...open]]).toEqual([2, [winner]]);
  });

  it('says how many addresses it had no time for', async () => {
    const silent = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`10.0.0.${i + 1}`, 'silent'] as const));
    const { outcome, begun } = await dialed(silent);
    expect(begun).toHaveLength(15);
    expect((outcome as Error).message).toMatch(/10\.0\.0\.15 \(ETIMEDOUT\); there was no time for 2 more$/);
  });

  it('fails for a name that is not resolved in time', async () => {
    const { outcome } = await dialed({}, { resolve: () => new Promise<never>(() => {}) });
    expect(outcome).toMatchObject({ code: 'ETIMEDOUT', message: 'connect ETIMEDOUT api.c2.example:6443' });
  });

  it('of an address fails with the error of the system', async () => {
    const { outcome } = await dialed({ '10.0.0.1': { afterMs: 10, code: 'ECONNREFUSED' } }, { host: '10.0.0.1' });
    expect(outcome).toMatchObject({ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 10.0.0.1:6443' });
  });

  it.each([
    { name: 'before it', abortsAtMs: -1, begun: [] },
    { name: 'while it connects', abortsAtMs: 100, begun: ['fd00::1 at 0'] },
    { name: 'while it connects to both families', abortsAtMs: 400, begun: ['fd00::1 at 0', '10.0.0.1 at 300'] },
  ])('ends with the reason of an abort $name', async ({ abortsAtMs, begun: want }) => {
    const { network, begun, open } = networkOf({ 'fd00::1': 'silent', '10.0.0.1': 'silent', '10.0.0.2': 'silent' });
    const reason = new Error('enough');
    const aborter = new AbortController();
    if (abortsAtMs < 0) aborter.abort(reason);
    const outcome = dial(target, { signal: aborter.signal }, network).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(Math.max(abortsAtMs, 0));
    aborter.abort(reason);
    await vi.advanceTimersByTimeAsync(0);
    expect([await outcome, open.size, vi.getTimerCount()]).toEqual([reason, 0, 0]);
    expect(begun).toEqual(want);
  });
});

// Those of Go's net.partialDeadline.
it.each([
  { leftMs: 30_000, addressesLeft: 1, want: 30_000 },
  { leftMs: 30_000, addressesLeft: 2, want: 15_000 },
  { leftMs: 30_000, addressesLeft: 20, want: 2_000 },
  { leftMs: 1_500, addressesLeft: 3, want: 1_500 },
])('gives an address $want ms if $leftMs ms are left for $addressesLeft', ({ want, ...left }) => {
  expect(attemptMs(left.leftMs, left.addressesLeft)).toBe(want);
});
