import { observe } from '../stage/observe.ts';
import { networkSetsPath } from '../stage/set-watch.ts';
import type { Scene } from '../stage/stage.ts';
import { formatDuration } from '../text/duration.ts';

/** An address of those that are reserved for documentation. */
const INTRUDER = '203.0.113.66/32';

const edited: Scene = {
  title: 'Somebody edits the set',
  async play({ c1, checkout, tell, signal }) {
    const patch = { spec: { nets: [INTRUDER] } };
    tell.say('In c1, somebody who is allowed to do so lets another address in:');
    tell.show([
      `kubectl patch globalnetworksets ${checkout.setName} \\`,
      `    --type merge -p '${JSON.stringify(patch)}'`,
    ]);
    const { rightMs, versions } = await observe({ site: c1, workload: checkout, signal }, async () => {
      const path = `${networkSetsPath}/${checkout.setName}`;
      const { status, body } = await c1.server.admin.request('PATCH', path, patch);
      if (status !== 200) throw new Error(`patch ${path}: ${status} ${String(body['message'])}`);
    });
    const [intrusion] = versions;
    if (!intrusion?.value?.nets.includes(INTRUDER)) throw new Error(`the set never had ${INTRUDER}`);
    const stayMs = rightMs - intrusion.ms;
    tell.milestone('the edited set is as it was', rightMs, `: ${INTRUDER} was in it for ${formatDuration(stayMs)}`);
  },
};

const deleted: Scene = {
  title: 'Somebody deletes the set',
  async play({ c1, checkout, tell, signal }) {
    tell.say('And somebody else cleans up, or so they think:');
    tell.show([`kubectl delete globalnetworksets ${checkout.setName}`]);
    const { rightMs } = await observe({ site: c1, workload: checkout, signal }, () =>
      c1.server.admin.delete(`${networkSetsPath}/${checkout.setName}`),
    );
    tell.milestone('the deleted set is back', rightMs, ', with the same labels and addresses');
  },
};

/** What people do to sets by hand, and how it is put right. */
export const vandalism: readonly Scene[] = [edited, deleted];
