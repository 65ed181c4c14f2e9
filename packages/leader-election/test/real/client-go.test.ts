// Real: client-go elects a leader, in kube-controller-manager.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '@kube-semaphore/eventually';
import { builtBinary, type RealCluster, startRealCluster } from '@kube-semaphore/testkit';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { SHORT } from '../support/elector.ts';
import { startReplica } from '../support/replica.ts';

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/default/leases/shared';

let cluster: RealCluster;
const running: { stop(): Promise<unknown> }[] = [];

beforeAll(async () => {
  cluster = await startRealCluster({ name: 'c1', audit: true });
});

afterAll(() => cluster.stop());

afterEach(async () => {
  await Promise.all(running.splice(0).map((replica) => replica.stop()));
  await cluster.admin.delete(LEASE);
});

/** A Kubernetes program that elects a leader with client-go, by our Lease. */
function startGo() {
  const program = builtBinary('kube-controller-manager');
  const flags = {
    kubeconfig: cluster.adminKubeconfig,
    controllers: 'garbage-collector-controller',
    'secure-port': '0',
    'leader-elect': 'true',
    'leader-elect-resource-namespace': 'default',
    'leader-elect-resource-name': 'shared',
    'leader-elect-lease-duration': `${SHORT.leaseDurationMs}ms`,
    'leader-elect-renew-deadline': `${SHORT.renewDeadlineMs}ms`,
    'leader-elect-retry-period': `${SHORT.retryPeriodMs}ms`,
  };
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const child = spawn(program, args, { stdio: 'ignore' });
  const onExit = () => child.kill('SIGKILL');
  process.once('exit', onExit);
  const exited = once(child, 'close').finally(() => process.off('exit', onExit));
  const stop = () => (child.kill('SIGKILL'), exited);
  running.push({ stop });
  return { stop };
}

async function startOurs() {
  const { adminKubeconfig: kubeconfig } = cluster;
  const replica = await startReplica({ kubeconfig, lease: 'shared', identity: 'ours', times: SHORT });
  running.push(replica);
  return replica;
}

type Spec = { holderIdentity: string; renewTime: string; leaseTransitions: number };
const spec = async () => (await cluster.admin.get(LEASE))['spec'] as Spec;

/** Waits until a condition holds, longer than a busy machine needs. */
const until = (what: string, holds: () => boolean | Promise<boolean>) => eventually(() => holds(), true, { what });

/** Waits until the Lease has been renewed for this time. */
async function renewedFor(ms: number): Promise<void> {
  const from = Date.parse((await spec()).renewTime);
  await until('renewals', async () => Date.parse((await spec()).renewTime) - from > ms);
}

/** Waits until client-go holds the Lease, and has renewed it. */
async function goLeads(): Promise<Spec> {
  const isGone = async () => ['', 'ours'].includes((await spec()).holderIdentity);
  await until('client-go to lead', async () => !(await isGone().catch(() => true)));
  await renewedFor(0);
  return spec();
}

/** Waits until client-go has seen the Lease of another holder. */
async function goReads(): Promise<void> {
  const { length } = await cluster.auditLog();
  await until('a read by client-go', async () =>
    (await cluster.auditLog())
      .slice(length)
      .some(({ objectRef, userAgent = '' }) => objectRef?.name === 'shared' && userAgent.includes('leader-election')),
  );
}

/** Longer than a Lease lasts. */
const LONG_MS = SHORT.leaseDurationMs + 500;

it('waits for client-go, and takes over after it', async () => {
  const go = startGo();
  const { holderIdentity } = await goLeads();
  const ours = await startOurs();
  await until('a read', () => ours.leaders.includes(holderIdentity));
  await renewedFor(LONG_MS);
  expect(ours.events).toEqual([]);
  await go.stop();
  await until('ours to lead', () => ours.elector.isLeader);
  expect(await spec()).toMatchObject({ holderIdentity: 'ours', leaseTransitions: 1 });
});

it('makes client-go wait, until it stops', async () => {
  const ours = await startOurs();
  await until('ours to lead', () => ours.elector.isLeader);
  startGo();
  await goReads();
  await renewedFor(LONG_MS);
  expect([await spec(), ours.events]).toMatchObject([{ holderIdentity: 'ours', leaseTransitions: 0 }, ['started']]);
  await ours.stop();
  expect(await goLeads()).toMatchObject({ leaseTransitions: 1 });
});
