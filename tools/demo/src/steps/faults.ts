import { eventually, isDefined } from '@kube-semaphore/eventually';
import { remoteUp, watchRestarts } from '@kube-semaphore/testkit';
import { type App, commandLines } from '../apps.ts';
import type { DemoCluster } from '../demo-cluster.ts';
import { contentOf, setOf } from '../copies.ts';
import { observe, setsPath, versionsSince } from '../observe.ts';
import { formatDuration } from '../text/duration.ts';
import type { Step } from './start.ts';

/** An address that is reserved for documentation. */
const INTRUDER = '203.0.113.66/32';

/** Failed attempts to reach the other cluster, before it recovers. */
const ATTEMPTS = 2;

const lease = { namespace: 'semaphore-policy', name: 'semaphore-policy-c2' };
const electionFlags = {
  'leader-elect': true,
  'lease-namespace': lease.namespace,
  'lease-duration': '3s',
  'renew-deadline': '2s',
  'retry-period': '500ms',
} as const;

const isEdited: Step = async ({ out, c1, checkout }) => {
  const patch = { spec: { nets: [INTRUDER] } };
  const change = `    --type merge -p '${JSON.stringify(patch)}'`;
  const command = [`kubectl patch globalnetworksets ${checkout.setName} \\`, change];
  out.step('Someone edits the set', 'In c1, someone replaces the addresses in the set with another one:', command);
  const { rightMs, first } = await observe(c1, setOf(checkout), async () => {
    const path = `${setsPath}/${checkout.setName}`;
    const { status, body } = await c1.server.admin.request('PATCH', path, patch);
    if (status !== 200) throw new Error(`patch ${path}: ${status} ${String(body['message'])}`);
  });
  if (!contentOf(first.copy)?.ready.includes(INTRUDER)) throw new Error(`the set never had ${INTRUDER}`);
  const stay = formatDuration(rightMs - first.ms);
  out.result('the set is restored', rightMs, `: ${INTRUDER} was in it for ${stay}`);
};

const isOutOfReach: Step = async ({ out, started, c1, c2, line, checkout }) => {
  const { program } = started.running('semaphore-policy', c1);
  const remote = { prefix: 'semaphore_policy', cluster: c2.name };
  const isUp = async (wanted: 0 | 1) => {
    await eventually(() => remoteUp(program, remote), wanted, { what: `remote_up to be ${wanted}` });
    out.show([`semaphore_policy_remote_up{remote="${c2.name}"} ${wanted}`]);
  };
  const failuresBefore = await watchRestarts(program, remote);
  out.step(
    'The other cluster is not reached',
    `The network between the clusters fails: all connections from c1 to c2
    break, and new ones are refused. Look at the metric of semaphore-policy in c1:`,
  );
  const cutMs = performance.now();
  const mend = await line.set({ kind: 'refuse' });
  await isUp(0);
  out.result('c1 reports that it does not reach c2', performance.now() - cutMs);

  out.say(`Meanwhile, another pod replaces the one in c2, and 2 more start. c1 can't know this. Unknown is not empty: the
    set must stay as it is.`);
  await checkout.rollOut();
  await checkout.scale(3);
  // The first failure is the end of the watch itself.
  const hasFailed = (failures: number) => failures > failuresBefore + ATTEMPTS;
  await eventually(() => watchRestarts(program, remote), hasFailed, { what: `${ATTEMPTS} failed attempts` });
  if (versionsSince(c1.history, checkout.setName, cutMs).length > 0) throw new Error(`${checkout.setName} changed`);
  const detail = `, while ${ATTEMPTS} attempts to reach c2 failed`;
  out.result('the set did not change', performance.now() - cutMs, detail);

  out.say(`The network works again. It takes a random time until c1 notices: pauses between attempts are random, and
    longer after each failure, so that a cluster that recovers is not overloaded.`);
  const { rightMs } = await observe(c1, setOf(checkout), mend);
  out.result('the set is up to date', rightMs, ': it has the 3 new pods, and not the old one');
  await isUp(1);
};

const leaderIsKilled: Step = async ({ out, started, c1, checkout }) => {
  out.step(
    'Two replicas, and the leader is killed',
    `In production, two replicas of semaphore-policy run in each
    cluster. Both watch, and only the holder of a Lease writes. In c1, two replicas replace the single process:`,
    commandLines('semaphore-policy … the flags from above …', electionFlags),
  );
  const single = started.running('semaphore-policy', c1);
  await single.stop();
  const flags = { ...single.options.flags, ...electionFlags };
  const replicas = (['first', 'second'] as const).map((replica) => started.app({ ...single.options, replica, flags }));
  await Promise.all(replicas.map((app) => app.ready()));
  const { leader } = await holderOf(c1, replicas);
  const standby = replicas.filter((app) => app !== leader);
  const nameOf = ({ options }: App) => options.replica ?? '';

  const command = `kill -9 ${leader.program.pid}`;
  out.say(`The ${nameOf(leader)} one leads. It is killed, and a pod starts in c2 before the other replica leads:`, [
    command,
  ]);
  let takeoverMs = 0;
  const { rightMs } = await observe(c1, setOf(checkout), async () => {
    const killedMs = Date.now();
    await leader.stop('SIGKILL');
    await checkout.scale(checkout.pods.length + 1);
    takeoverMs = (await holderOf(c1, standby)).sinceMs - killedMs;
  });
  out.result(
    'the other replica leads',
    takeoverMs,
    `: it is the ${standby.map(nameOf).join()} one. It
    waits until the Lease of the killed leader ends: 15 s by default, 3 s here`,
  );
  out.result('the pod that started in between is in the set', rightMs);

  out.say('The new leader continues: all pods except one are deleted.');
  const { rightMs: nextMs } = await observe(c1, setOf(checkout), () => checkout.scale(1));
  out.result('the new leader has written the next change', nextMs);
};

/** Waits until one of `apps` holds the Lease. `sinceMs` is in ms since the epoch, from the API server. */
function holderOf({ server }: DemoCluster, apps: readonly App[]): Promise<{ leader: App; sinceMs: number }> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${lease.namespace}/leases/${lease.name}`;
  return eventually(
    async () => {
      const { status, body } = await server.admin.request('GET', path);
      if (status !== 200) return undefined;
      const { holderIdentity, acquireTime } = body['spec'] as { holderIdentity: string; acquireTime: string };
      const lines = await Promise.all(apps.map(({ program }) => program.logged('waiting for the Lease')));
      const leader = apps[lines.findIndex(({ identity }) => identity === holderIdentity)];
      return leader && { leader, sinceMs: Date.parse(acquireTime) };
    },
    isDefined,
    { what: `a holder of the Lease ${lease.name}` },
  );
}

const lastPodGoes: Step = async ({ out, c1, checkout, ledger }) => {
  out.step(
    'The last pod is deleted',
    `In c2, the last pod of ${checkout.app} is deleted. c1 no longer needs a set
    for it.`,
  );
  const { rightMs } = await observe(c1, setOf(checkout), () => checkout.scale(0));
  out.result(`c1 has no set ${checkout.setName}`, rightMs, `; c2 still has ${ledger.setName}`);
};

/** What people and failures do to a set, and how it recovers. */
export const faults: readonly Step[] = [isEdited, isOutOfReach, leaderIsKilled, lastPodGoes];
