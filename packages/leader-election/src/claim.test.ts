import { KubeApiError } from '@kube-semaphore/kube-client';
import type { Lease } from '@kube-semaphore/kube-objects';
import { beforeEach, describe, expect, it } from 'vitest';
import { LeaseServer } from '../test/simulation/lease-server.ts';
import { LeaseClaim } from './claim.ts';
import { LeaseClaims } from './claims.ts';
import { machineClock } from './clock.ts';
import type { LeaseLock } from './lock.ts';

const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
const { signal } = new AbortController();

const released = { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: '', renewTime: '', leaseTransitions: 0 };

let server: LeaseServer;

beforeEach(() => {
  server = new LeaseServer();
});

/** A claim that notes each request. The server executes its writes, and answers with these faults. */
function claimOf(identity: string, { creates = true } = {}) {
  const requests: string[] = [];
  const failures: unknown[] = [];
  const faults: { onCreate?: Error; onUpdate?: Error } = {};
  const ask = async <T>(verb: string, execute: () => T, fault?: Error): Promise<T> => {
    requests.push(verb);
    const answer = execute();
    if (fault !== undefined) throw fault;
    return answer;
  };
  const lock: LeaseLock = {
    lease: 'ns/lease',
    read: () => ask('read', () => server.read()),
    ...(creates && { create: (spec: Lease['spec']) => ask('create', () => server.create(spec), faults.onCreate) }),
    update: (lease) => ask('update', () => server.update(lease), faults.onUpdate),
  };
  const claim = new LeaseClaim({
    ...TIMES,
    lock,
    identity,
    clock: machineClock,
    onNewLeader: () => {},
    onFailure: (error) => failures.push(error),
    onAnswer: () => {},
  });
  const attempt = async (leads: boolean): Promise<string> => (await claim.attempt({ signal, leads })).kind;
  return { claim, attempt, requests, failures, faults };
}

/** A change by kubectl that isn't a change of the holder. */
function label(): void {
  const lease = server.read()!;
  server.update({ ...lease, metadata: { ...lease.metadata, labels: { changed: 'yes' } } });
}

describe('LeaseClaim', () => {
  it('creates the Lease, and renews it with one request each time', async () => {
    const { attempt, requests } = claimOf('us');
    expect([await attempt(false), await attempt(true), await attempt(true)]).toEqual(['held', 'held', 'held']);
    expect(requests).toEqual(['read', 'create', 'update', 'update']);
  });

  it('reads the Lease of another replica, and writes nothing', async () => {
    await claimOf('other').attempt(false);
    const { attempt, requests } = claimOf('us');
    expect([await attempt(false), await attempt(false)]).toEqual(['taken', 'taken']);
    expect(requests).toEqual(['read', 'read']);
  });

  it('renews at once a Lease that another client changed, and keeps the change', async () => {
    const { attempt, requests } = claimOf('us');
    await attempt(false);
    label();
    expect(await attempt(true)).toBe('held');
    expect(requests).toEqual(['read', 'create', 'update', 'read', 'update']);
    expect(server.read()?.metadata.labels).toEqual({ changed: 'yes' });
  });

  it('reads again if it does not know the result of its request', async () => {
    const { attempt, requests, failures, faults } = claimOf('us');
    await attempt(false);
    faults.onUpdate = new Error('reset');
    expect(await attempt(true)).toBe('failed');
    delete faults.onUpdate;
    expect(await attempt(true)).toBe('held');
    expect(requests).toEqual(['read', 'create', 'update', 'read', 'update']);
    expect(failures).toEqual([new Error('reset')]);
  });

  it('reports no failure if another replica was faster', async () => {
    const { attempt, failures, faults } = claimOf('us');
    faults.onCreate = new KubeApiError('exists', { status: 409, reason: 'AlreadyExists' });
    expect(await attempt(false)).toBe('failed');
    expect(failures).toEqual([]);
  });

  it('releases the Lease even without the answer that it holds it', async () => {
    server.create({ ...released, leaseTransitions: 7 });
    const { claim, attempt, requests, faults } = claimOf('us');
    faults.onUpdate = new Error('reset');
    expect(await attempt(false)).toBe('failed');
    expect(server.read()?.spec.holderIdentity).toBe('us');
    delete faults.onUpdate;
    await claim.release();
    expect(server.read()?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 8 });
    expect(requests).toEqual(['read', 'update', 'read', 'update']);
  });

  it('does not release a Lease that another replica took meanwhile', async () => {
    const { claim, attempt } = claimOf('us');
    await attempt(false);
    const lease = server.read()!;
    server.update({ ...lease, spec: { ...lease.spec, holderIdentity: 'other' } });
    await claim.release();
    expect(server.read()?.spec.holderIdentity).toBe('other');
  });

  it('releases nothing while another replica leads', async () => {
    await claimOf('other').attempt(false);
    const { claim, attempt, requests } = claimOf('us');
    await attempt(false);
    await claim.release();
    expect(requests).toEqual(['read']);
  });

  describe('to a Lease that it does not create', () => {
    it('holds it while it is missing, and takes it when it exists', async () => {
      const { claim, attempt, requests } = claimOf('us', { creates: false });
      expect([await attempt(false), await attempt(true)]).toEqual(['held', 'held']);
      server.create(released);
      expect([await attempt(true), await attempt(true)]).toEqual(['held', 'held']);
      expect(server.read()?.spec.holderIdentity).toBe('us');
      expect(requests).toEqual(['read', 'read', 'read', 'update', 'update']);
      await claim.release();
      expect(server.read()?.spec.holderIdentity).toBe('');
    });

    it('leaves it to another replica', async () => {
      await claimOf('other').attempt(false);
      const { attempt, requests } = claimOf('us', { creates: false });
      expect([await attempt(false), await attempt(true)]).toEqual(['taken', 'taken']);
      expect(requests).toEqual(['read', 'read']);
    });

    it('leaves a deleted one to its holder for its whole time, unless that is us', async () => {
      const [us, other] = [claimOf('us', { creates: false }), claimOf('other', { creates: false })];
      server.create(released);
      expect([await us.attempt(false), await other.attempt(false)]).toEqual(['held', 'taken']);
      server.delete();
      expect([await us.attempt(true), await other.attempt(false)]).toEqual(['held', 'taken']);
    });
  });
});

describe('LeaseClaims', () => {
  it('are held since the oldest of their requests', async () => {
    const sentAt = (sentAtMs: number) => ({ attempt: async () => ({ kind: 'held', sentAtMs }) }) as never;
    const claims = new LeaseClaims([sentAt(1_000), sentAt(3_000)]);
    expect(await claims.attempt({ signal, leads: true })).toEqual({ kind: 'held', sentAtMs: 1_000 });
  });
});
