import { join } from 'node:path';
import { type App, commandLines } from '../stage/app.ts';
import { type LeaseQuery, waitForHolder } from '../stage/lease.ts';
import { observe } from '../stage/observe.ts';
import type { Scene, Stage } from '../stage/stage.ts';
import { table } from '../text/table.ts';

const lease = { namespace: 'semaphore-policy', name: 'semaphore-policy-c2' };

/** What makes one of several the leader. */
const electionFlags = {
  'leader-elect': true,
  'lease-namespace': lease.namespace,
  'lease-duration': '3s',
  'renew-deadline': '2s',
  'retry-period': '500ms',
} as const;

const leaderKilled: Scene = {
  title: 'Two replicas, and the leader is killed',
  async play(stage) {
    const { c1, checkout, tell, signal } = stage;
    tell.say(
      'In production two replicas of semaphore-policy run in each cluster. Both watch, and one writes: the one that ' +
        'holds a Lease. In c1, such a pair takes the place of the single process:',
    );
    tell.show(commandLines('semaphore-policy … the flags from above …', electionFlags));
    const replicas = await replaceByPair(stage);
    const query: LeaseQuery = { site: c1, ...lease };
    const { app: leader } = await waitForHolder(query, { apps: replicas, signal });
    const standby = replicas.filter((app) => app !== leader);
    tell.show(table(replicas.map((app) => [nameOf(app), `process ${app.pid}`, app === leader ? 'leads' : 'waits'])));

    tell.say('The leader dies without a word, and a pod starts in c2 while nobody leads:');
    tell.show([`kill -9 ${leader.pid}`]);
    let takeoverMs = 0;
    const { rightMs } = await observe({ site: c1, workload: checkout, signal }, async () => {
      const killedMs = Date.now();
      await leader.kill();
      await checkout.scale(checkout.pods.length + 1);
      takeoverMs = (await waitForHolder(query, { apps: standby, signal })).sinceMs - killedMs;
    });
    tell.milestone(
      'the other replica leads in its place',
      takeoverMs,
      `: it was the ${standby.map(nameOf).join()} one. Nobody may follow a silent leader sooner than its Lease ends, ` +
        'which is 15 s by default, and 3 s here, so that you needn’t wait',
    );
    tell.milestone('the pod that started meanwhile is in the set', rightMs);

    tell.say('And it goes on: all pods but one are deleted.');
    const { rightMs: nextMs } = await observe({ site: c1, workload: checkout, signal }, () => checkout.scale(1));
    tell.milestone('the new leader has written the next change', nextMs);
  },
};

/** Stops the app of c1, and starts two of it that share a Lease. Resolves when both are ready. */
async function replaceByPair({ backstage, c1, signal }: Stage): Promise<readonly App[]> {
  const single = backstage.runningProgram('semaphore-policy', c1.name);
  await single.stop();
  const replicas = (['first', 'second'] as const).map((replica) =>
    backstage.startApp({
      ...single.options,
      replica,
      flags: { ...single.options.flags, ...electionFlags },
      log: join(c1.server.dir, `semaphore-policy-${replica}.log`),
    }),
  );
  await Promise.all(replicas.map((app) => app.ready({ signal })));
  return replicas;
}

const nameOf = ({ options }: App): string => options.replica ?? 'only';

/** One writer, and what happens when it is gone. */
export const succession: readonly Scene[] = [leaderKilled];
