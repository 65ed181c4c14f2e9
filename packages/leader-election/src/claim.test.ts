import { KubeApiError } from '@kube-semaphore/kube-client';
import type { Lease } from '@kube-semaphore/kube-objects';
import { beforeEach, describe, expect, it } from 'vitest';
import { LeaseServer } from '../test/simulation/lease-server.ts';
import { LeaseClaim } from './claim.ts';
import { machineClock } from './clock.ts';
import type { LeaseLock } from './lock.ts';

const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
const { signal } = new AbortController();

const released = { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: '', renewTime: '', leaseTransitions: 0 };

let server: LeaseServer;

beforeEach(() => {
  server = new LeaseServer();
});

/** A claim that notes each request, and whose writes are done but answered by these faults. */
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

/** What somebody with kubectl changes, which is no change of holder. */
function label(): void {
  const lease = server.read()!;
  server.update({ ...lease, metadata: { ...lease.metadata, labels: { changed: 'yes' } } });
}

describe('LeaseClaim', () => {
  it('creates the Lease, and renews it by one request each time', async () => {
    const { attempt, requests } = claimOf('us');
    expect([await attempt(false), await attempt(true), await attempt(true)]).toEqual(['held', 'held', 'held']);
    expect(requests).toEqual(['read', 'create', 'update', 'update']);
  });

  it('looks at the Lease of another, and writes nothing', async () => {
    await claimOf('other').attempt(false);
    const { attempt, requests } = claimOf('us');
    expect([await attempt(false), await attempt(false)]).toEqual(['taken', 'taken']);
    expect(requests).toEqual(['read', 'read']);
  });

  it('renews at once what somebody else changed, and keeps the change', async () => {
    const { attempt, requests } = claimOf('us');
    await attempt(false);
    label();
    expect(await attempt(true)).toBe('held');
    expect(requests).toEqual(['read', 'create', 'update', 'read', 'update']);
    expect(server.read()?.metadata.labels).toEqual({ changed: 'yes' });
  });

  it('looks again when it does not know what became of its request', async () => {
    const { attempt, requests, failures, faults } = claimOf('us');
    await attempt(false);
    faults.onUpdate = new Error('reset');
    expect(await attempt(true)).toBe('failed');
    delete faults.onUpdate;
    expect(await attempt(true)).toBe('held');
    expect(requests).toEqual(['read', 'create', 'update', 'read', 'update']);
    expect(failures).toEqual([new Error('reset')]);
  });

  it('keeps quiet about one that was quicker', async () => {
    const { attempt, failures, faults } = claimOf('us');
    faults.onCreate = new KubeApiError('exists', { status: 409, reason: 'AlreadyExists' });
    expect(await attempt(false)).toBe('failed');
    expect(failures).toEqual([]);
  });

  it('gives the Lease up to nobody, also if it never heard that it has it', async () => {
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

  it('gives up nothing that another has taken meanwhile', async () => {
    const { claim, attempt } = claimOf('us');
    await attempt(false);
    const lease = server.read()!;
    server.update({ ...lease, spec: { ...lease.spec, holderIdentity: 'other' } });
    await claim.release();
    expect(server.read()?.spec.holderIdentity).toBe('other');
  });

  it('has nothing to give up while another leads', async () => {
    await claimOf('other').attempt(false);
    const { claim, attempt, requests } = claimOf('us');
    await attempt(false);
    await claim.release();
    expect(requests).toEqual(['read']);
  });

  describe('to a Lease that it does not create', () => {
    it('holds it while it is missing, and takes it as soon as it is there', async () => {
      const { claim, attempt, requests } = claimOf('us', { creates: false });
      expect([await attempt(false), await attempt(true)]).toEqual(['held', 'held']);
      server.create(released);
      expect([await attempt(true), await attempt(true)]).toEqual(['held', 'held']);
      expect(server.read()?.spec.holderIdentity).toBe('us');
      expect(requests).toEqual(['read', 'read', 'read', 'update', 'update']);
      await claim.release();
      expect(server.read()?.spec.holderIdentity).toBe('');
    });

    it('leaves it to another', async () => {
      await claimOf('other').attempt(false);
      const { attempt, requests } = claimOf('us', { creates: false });
      expect([await attempt(false), await attempt(true)]).toEqual(['taken', 'taken']);
      expect(requests).toEqual(['read', 'read']);
    });

    it('leaves it to the holder for its whole time where somebody deletes it, unless that is us', async () => {
      const [us, other] = [claimOf('us', { creates: false }), claimOf('other', { creates: false })];
      server.create(released);
      expect([await us.attempt(false), await other.attempt(false)]).toEqual(['held', 'taken']);
      server.delete();
      expect([await us.attempt(true), await other.attempt(false)]).toEqual(['held', 'taken']);
    });
  });
});
