import type { TestAccount, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { startCluster } from '@kube-semaphore/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NotLeadingError } from '../src/index.ts';
import { ELECTION_RULES, LONG, SHORT } from './support/elector.ts';
import { startReplica } from './support/replica.ts';
import { spawnReplica } from './support/replica-process.ts';

type Replica = Awaited<ReturnType<typeof startReplica>>;
type Spec = { holderIdentity: string; acquireTime: string; renewTime: string };

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

let cluster: TestCluster;
let account: TestAccount;
let lease: string;
let leases = 0;
const running: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  cluster = await startCluster({ name: 'c1' });
  account = await cluster.account('replica', ELECTION_RULES);
});

afterAll(() => cluster.stop());

beforeEach(() => {
  lease = `lease-${leases++}`;
});

afterEach(() => Promise.all(running.splice(0).map((replica) => replica.stop())));

async function start(identity: string, times = SHORT): Promise<Replica> {
  const replica = await startReplica({ kubeconfig: account.kubeconfig, lease, identity, times });
  running.push(replica);
  return replica;
}

function spawn(identity: string, times = SHORT) {
  const replica = spawnReplica({ kubeconfig: account.kubeconfig, lease, identity, times });
  running.push(replica);
  return replica;
}

/** Waits until a condition holds, longer than a busy machine needs. */
const until = (what: string, holds: () => boolean | Promise<boolean>) => eventually(() => holds(), true, { what });

const leads = ({ identity, elector }: Replica) => until(`${identity} to lead`, () => elector.isLeader);
const sees = (replica: Replica, leader: string) =>
  until(`a sight of ${leader}`, () => replica.leaders.includes(leader));
const spec = async () => (await cluster.admin.get(`${LEASES}/${lease}`))['spec'] as Spec;

/** Waits until the Lease is renewed. */
async function renewed(): Promise<Spec> {
  const before = await spec();
  await until('a renewal', async () => (await spec()).renewTime !== before.renewTime);
  return spec();
}

/** The objects that a spawned replica created. */
async function written(identity: string): Promise<string[]> {
  const objects = await cluster.admin.list(LEASES);
  return objects.map(({ metadata }) => metadata.name).filter((name) => name.startsWith(`${identity}-`));
}

describe('LeaderElector', () => {
  it('leads alone, and writes the Lease as client-go does', async () => {
    const first = await start('first', LONG);
    await leads(first);
    const second = await start('second', LONG);
    await sees(second, 'first');
    const [before, after] = [await spec(), await renewed()];
    expect(before).toEqual({
      holderIdentity: 'first',
      leaseDurationSeconds: 60,
      acquireTime: expect.stringMatching(MICRO_TIME),
      renewTime: expect.stringMatching(MICRO_TIME),
      leaseTransitions: 0,
    });
    expect(after).toEqual({ ...before, renewTime: after.renewTime });
    expect([first.elector.isLeader, second.elector.isLeader]).toEqual([true, false]);
    await expect(second.elector.guard(async () => 'written')).rejects.toThrow(NotLeadingError);
    expect(await first.elector.guard(async () => 'written')).toBe('written');
  });

  it('hands over at once if it is asked to stop, and ends', async () => {
    const first = spawn('first', LONG);
    await first.said('started');
    const second = await start('second', LONG);
    await sees(second, 'first');
    first.kill('SIGTERM');
    expect(await first.exited).toBe(0);
    // Long before the end of the Lease.
    await leads(second);
    expect(await spec()).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
  });

  it('releases the Lease if there is no other replica', async () => {
    const only = await start('only', LONG);
    await leads(only);
    await only.stop();
    expect(await spec()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
    expect(only.events).toEqual(['started', 'stopped']);
  });

  it('waits until the Lease of a killed replica ends', async () => {
    const first = spawn('first');
    await first.said('started');
    const second = await start('second');
    await sees(second, 'first');
    first.kill('SIGKILL');
    await first.exited;
    const { renewTime } = await spec();
    await leads(second);
    const { acquireTime } = await spec();
    // Both are times of this machine; the clock of the election has a resolution of 10 ms.
    expect(Date.parse(acquireTime) - Date.parse(renewTime)).toBeGreaterThan(SHORT.leaseDurationMs - 20);
  });

  it('writes nothing when it wakes from a SIGSTOP after its Lease has ended', async () => {
    const first = spawn('first');
    await first.said('started');
    await until('writes', async () => (await written('first')).length > 10);
    const second = await start('second');
    await sees(second, 'first');
    first.kill('SIGSTOP');
    await leads(second);
    const before = await written('first');
    first.kill('SIGCONT');
    await first.said('stopped');
    await first.said('second');
    const after = (await written('first')).filter((name) => !before.includes(name));
    // The signal may come after the check of a write, and before its last byte.
    expect(after.length).toBeLessThanOrEqual(1);
    expect(second.events).toEqual(['started']);
  });

  it('survives a restart of the API server that is shorter than its deadline', async () => {
    const only = await start('only', LONG);
    await leads(only);
    await cluster.restart();
    await renewed();
    expect(only.events).toEqual(['started']);
  });

  it('stops writing if it is forbidden to renew, and leads again when it is allowed', async () => {
    const other = await cluster.account('revoked', ELECTION_RULES);
    const only = await startReplica({ kubeconfig: other.kubeconfig, lease, identity: 'only', times: SHORT });
    running.push(only);
    await leads(only);
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
    const { metadata, ...binding } = await cluster.admin.get(`${path}/revoked`);
    await cluster.admin.delete(`${path}/revoked`);
    await until('its end', () => only.events.includes('stopped'));
    expect(only.failures[0]).toMatchObject({ status: 403 });
    await expect(only.elector.guard(async () => 'written')).rejects.toThrow(NotLeadingError);
    await cluster.admin.create(path, { ...binding, metadata: { name: metadata.name } });
    await leads(only);
    expect(only.events).toEqual(['started', 'stopped', 'started']);
  });

  it('creates a deleted Lease again, and continues to lead', async () => {
    const first = await start('first', LONG);
    await leads(first);
    const second = await start('second', LONG);
    await sees(second, 'first');
    await cluster.admin.delete(`${LEASES}/${lease}`);
    const { holderIdentity } = await eventually(() => spec().catch(() => undefined), isDefined);
    await renewed();
    expect([holderIdentity, first.events, second.events]).toEqual(['first', ['started'], []]);
  });

  it('stops leading if the Lease names another holder', async () => {
    const only = await start('only');
    await leads(only);
    const edit = { spec: { holderIdentity: 'other', leaseDurationSeconds: 3 } };
    expect((await cluster.admin.request('PATCH', `${LEASES}/${lease}`, edit)).status).toBe(200);
    await until('its end', () => only.events.includes('stopped'));
    expect(only.leaders).toEqual(['only', 'other']);
    await leads(only);
    expect(await spec()).toMatchObject({ holderIdentity: 'only', leaseTransitions: 1 });
  });

  it('keeps the labels of an existing Lease', async () => {
    const metadata = { name: lease, labels: { app: 'policy' }, annotations: { note: 'kept' } };
    await cluster.admin.create(LEASES, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata });
    await leads(await start('only'));
    await renewed();
    expect((await cluster.admin.get(`${LEASES}/${lease}`)).metadata).toMatchObject(metadata);
  });
});
