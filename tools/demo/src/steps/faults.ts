import { eventually, isDefined } from '@kube-semaphore/eventually';
import { remoteUp, watchRestarts } from '@kube-semaphore/testkit';
import { type App, commandLines } from '../apps.ts';
import type { Cluster } from '../cluster.ts';
import { contentOf, setOf } from '../copies.ts';
import { observe, setsPath, versionsSince } from '../observe.ts';
import { formatDuration } from '../text/duration.ts';
import { table } from '../text/table.ts';
import type { Step } from './start.ts';

/** An address that is reserved for documentation. */
const INTRUDER = '203.0.113.66/32';

/** So many attempts to reach the other cluster fail before it is in reach again. */
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
  out.step('Somebody edits the set', 'In c1, somebody replaces the addresses in the set by a foreign one:', command);
  const { rightMs, first } = await observe(c1, setOf(checkout), async () => {
    const path = `${setsPath}/${checkout.setName}`;
    const { status, body } = await c1.server.admin.request('PATCH', path, patch);
    if (status !== 200) throw new Error(`patch ${path}: ${status} ${String(body['message'])}`);
  });
  if (!contentOf(first.copy)?.ready.includes(INTRUDER)) throw new Error(`the set never had ${INTRUDER}`);
  const stay = formatDuration(rightMs - first.ms);
  out.result('the edited set is as it was', rightMs, `: ${INTRUDER} was in it for ${stay}`);
};

const isDeleted: Step = async ({ out, c1, checkout }) => {
  const command = `kubectl delete globalnetworksets ${checkout.setName}`;
  out.step('Somebody deletes the set', 'Somebody else deletes the whole set:', [command]);
  const path = `${setsPath}/${checkout.setName}`;
  const { rightMs } = await observe(c1, setOf(checkout), () => c1.server.admin.delete(path));
  out.result('the deleted set is back', rightMs, ', with the same labels and addresses');
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
    'The other cluster is out of reach',
    `The network between the clusters fails: every connection from c1 to c2
    breaks, and new ones are refused. Look at the metrics of semaphore-policy in c1:`,
  );
  const cutMs = performance.now();
  const mend = await line.set({ kind: 'refuse' });
  await isUp(0);
  out.result('c1 knows that it has lost sight of c2', performance.now() - cutMs);

  out.say(`Meanwhile another pod replaces the one in c2, and 2 more start. c1 learns nothing of this. It must not take
    the unknown for gone: whoever was let in stays in.`);
  await checkout.rollOut();
  await checkout.scale(3);
  // The first failure is the end of the watch itself.
  const hasFailed = (failures: number) => failures > failuresBefore + ATTEMPTS;
  await eventually(() => watchRestarts(program, remote), hasFailed, { what: `${ATTEMPTS} failed attempts` });
  if (versionsSince(c1.history, checkout.setName, cutMs).length > 0) throw new Error(`${checkout.setName} changed`);
  const detail = `, while ${ATTEMPTS} attempts to reach c2 were in vain`;
  out.result('the set has stayed as it was', performance.now() - cutMs, detail);

  out.say(`The network works again. How soon c1 notices depends on chance: the pauses between attempts are random, and
    longer after each failure, so that a cluster that comes back is not overrun.`);
  const { rightMs } = await observe(c1, setOf(checkout), mend);
  out.result('all that was missed has arrived', rightMs, ': the addresses of 3 new pods, and not the old one’s');
  await isUp(1);
};

const leaderIsKilled: Step = async ({ out, started, c1, checkout }) => {
  out.step(
    'Two replicas, and the leader is killed',
    `In production two replicas of semaphore-policy run in each
    cluster. Both watch, and one writes: the one that holds a Lease. In c1, two replicas replace the single process:`,
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
  const rowOf = (app: App) => [nameOf(app), `process ${app.program.pid}`, app === leader ? 'leads' : 'waits'];
  out.show(table(replicas.map(rowOf)));

  const command = `kill -9 ${leader.program.pid}`;
  out.say('The leader is killed, and a pod starts in c2 before the other replica leads:', [command]);
  let takeoverMs = 0;
  const { rightMs } = await observe(c1, setOf(checkout), async () => {
    const killedMs = Date.now();
    await leader.stop('SIGKILL');
    await checkout.scale(checkout.pods.length + 1);
    takeoverMs = (await holderOf(c1, standby)).sinceMs - killedMs;
  });
  out.result(
    'the other replica leads in its place',
    takeoverMs,
    `: it was the ${standby.map(nameOf).join()} one. It
    must wait until the Lease of the silent leader ends, which is 15 s by default, and 3 s here to save your time`,
  );
  out.result('the pod that started meanwhile is in the set', rightMs);

  out.say('The new leader goes on: all pods but one are deleted.');
  const { rightMs: nextMs } = await observe(c1, setOf(checkout), () => checkout.scale(1));
  out.result('the new leader has written the next change', nextMs);
};

/** Waits until one of `apps` holds the Lease, and since when, in ms since the epoch: the API server says so. */
function holderOf({ server }: Cluster, apps: readonly App[]): Promise<{ leader: App; sinceMs: number }> {
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
    `In c2, the last pod of ${checkout.app} is deleted. c1 needs no set of it any
    more.`,
  );
  const { rightMs } = await observe(c1, setOf(checkout), () => checkout.scale(0));
  out.result(`c1 has no set ${checkout.setName} any more`, rightMs, `; c2 still has ${ledger.setName}`);
};

/** What people and failures do to a set, and how it becomes right again. */
export const faults: readonly Step[] = [isEdited, isDeleted, isOutOfReach, leaderIsKilled, lastPodGoes];
