import { type SeriesQuery, readSeries, sumOf, waitForSeries } from '../stage/metrics.ts';
import { observe } from '../stage/observe.ts';
import type { Scene } from '../stage/stage.ts';
import type { Workload } from '../stage/workload.ts';

/** So many attempts to reach the other cluster are in vain before the line is mended. */
const ATTEMPTS = 2;

const cutOff: Scene = {
  title: 'The other cluster is out of reach',
  async play({ backstage, c1, c2, line, checkout, tell, signal }) {
    const app = backstage.runningProgram('semaphore-policy', c1.name);
    const labels = `{remote="${c2.name}"`;
    const up: SeriesQuery = { app, series: `semaphore_policy_remote_up${labels}`, signal };
    const failed: SeriesQuery = { app, series: `semaphore_policy_remote_watch_restarts_total${labels}`, signal };
    const failuresBefore = sumOf(await readSeries(failed));
    const before = c1.sets.get(checkout.setName);

    tell.say(
      'The network between the clusters fails: every connection from c1 to c2 is cut, and new ones are refused. Look ' +
        'at what the metrics of semaphore-policy in c1 tell those who run it:',
    );
    const cutMs = performance.now();
    const mend = await line.set({ kind: 'refuse' });
    tell.show(await waitForSeries(up, (value) => value === 0));
    tell.milestone('c1 knows that it has lost sight of c2', performance.now() - cutMs);

    tell.say(
      'Meanwhile the pod in c2 is replaced by another one, and 2 more start. Of that nothing comes through to c1, and ' +
        'what isn’t known must not be taken for gone: whoever was let in stays in.',
    );
    await replaceAndGrow(checkout);
    // The first failure is the end of the watch itself.
    await waitForSeries(failed, (sum) => sum >= failuresBefore + 1 + ATTEMPTS);
    // Every write would have made another version of it.
    if (c1.sets.get(checkout.setName) !== before) throw new Error(`${checkout.setName} changed during the outage`);
    const downMs = performance.now() - cutMs;
    tell.milestone('the set has stayed as it was', downMs, `, while ${ATTEMPTS} attempts to reach c2 were in vain`);

    tell.say(
      'The network is mended. How long it takes to notice is a matter of luck: the pauses between attempts are random, ' +
        'and longer after each failure, so that nobody storms a cluster that comes back.',
    );
    const { rightMs } = await observe({ site: c1, workload: checkout, signal }, mend);
    tell.milestone('all that was missed has arrived', rightMs, ': the addresses of 3 new pods, and not the old one’s');
    tell.show(await waitForSeries(up, (value) => value === 1));
  },
};

/** What happens where nobody looks: the one pod goes, and 3 others are there. */
async function replaceAndGrow(workload: Workload): Promise<void> {
  await workload.rollOut();
  await workload.scale(3);
}

/** A remote cluster that goes away, and comes back changed. */
export const outage: readonly Scene[] = [cutOff];
